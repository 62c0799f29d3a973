import { LRUCache } from 'lru-cache'
import type { EvidenceCheck } from '#domain/checks.ts'
import type { TextStyle } from '#domain/path-rules.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { LoadedLanguage } from '#languages/syntax/parser.ts'
import { directive } from '#languages/comments/comment-text.ts'
import { linesOf } from '#platform/changed-ranges.ts'
import { bodiesKept } from '../bodies-kept.ts'
import { commentsKept } from '../comments-kept.ts'
import { evaluationsIn, scriptEvaluations } from '../evaluations.ts'
import { lineLengthKept } from '../line-length.ts'
import { operandsKept } from '../operands-kept.ts'
import { type CheckResult, comparedTexts, once } from '../python-facts.ts'
import { type KnownParts, readStatements, type Statement, type StatementGrammar } from '../statements.ts'
import { scriptNamesOf, type ScriptBinding, type ScriptImport, type ScriptNames } from './script-bindings.ts'
import { scriptOperations } from '../operations.ts'

type Compared = ReturnType<typeof compared>

const scriptChecks = {
  comments_kept: (facts) => commentsKept(facts, directive),
  names_kept: ({ names }) => scriptNamesKept(names()),
  needed_imports_kept: ({ names }, { language }) => scriptImportsKept(names(), { isTyped: language !== 'javascript' }),
  line_length: (facts, { limits }) => lineLengthKept(facts, limits),
  bodies_kept: (facts) => bodiesKept(facts),
  operands_kept: (facts) => operandsKept(facts),
} as const satisfies Partial<Record<EvidenceCheck, CompareScripts>>
type CompareScripts = (facts: Compared, of: Pick<ScriptQuestion, 'language' | 'limits'>) => CheckResult
type ScriptCheck = keyof typeof scriptChecks

export function isScriptCheck(check: EvidenceCheck): check is ScriptCheck {
  return Object.hasOwn(scriptChecks, check)
}

const scriptLanguages = ['javascript', 'typescript', 'tsx'] as const
export type ScriptLanguage = (typeof scriptLanguages)[number]

export function isScriptLanguage(language: string | undefined): language is ScriptLanguage {
  return scriptLanguages.some((one) => one === language)
}

/** In characters of text; facts take some 27 times as much memory. */
const cachedLength = 1_000_000
const cachedTexts = 200

/** A change of a text and the check to make of it. Plain data: it is sent to the thread that parses. */
export type ScriptQuestion = {
  check: ScriptCheck
  before: string | undefined
  after: string
  language: ScriptLanguage
  limits: TextStyle
}

/** Makes the checks of JavaScript and TypeScript by statements, as Python's, and caches what it reads of a text. Only a thread may call it: it parses. */
export function openScriptChecks() {
  const cache = new LRUCache<string, ScriptFacts>({
    max: cachedTexts,
    maxSize: cachedLength,
    sizeCalculation: (_facts, key) => Math.min(key.length, cachedLength),
  })
  return ({ before = '', after, ...question }: ScriptQuestion, loaded: Pick<LoadedLanguage, 'read'>): CheckResult => {
    const factsOf = (text: string) => getOrMake(cache, `${question.language} ${text}`, () => scriptFacts(text, loaded))
    return scriptChecks[question.check](compared(factsOf(before), factsOf(after)), question)
  }
}

type ScriptFacts = ReturnType<typeof scriptFacts>

function scriptFacts(text: string, loaded: Pick<LoadedLanguage, 'read'>) {
  let statements: ReturnType<typeof readStatements> | undefined
  return {
    list: (known?: KnownParts) =>
      (statements ??= loaded.read(text, (tree) => readStatements(tree, text, known, scriptStatements))),
    evaluations: (statement: Statement) =>
      loaded.read(text, (tree) => evaluationsIn(tree, statement, scriptEvaluations)),
    names: once(() => loaded.read(text, scriptNamesOf)),
    lines: once(() => linesOf(text)),
    docstringRows: () => new Set<number>(),
  }
}

function compared(before: ScriptFacts, now: ScriptFacts) {
  return { ...comparedTexts(before, now), names: () => ({ before: before.names(), after: now.names() }) }
}

const heads = new Set(
  (
    'if_statement else_clause for_statement for_in_statement while_statement do_statement try_statement catch_clause finally_clause ' +
    'switch_statement switch_case switch_default with_statement labeled_statement function_declaration generator_function_declaration ' +
    'function_expression generator_function arrow_function method_definition class_declaration abstract_class_declaration class ' +
    'class_static_block interface_declaration enum_declaration internal_module module'
  ).split(' '),
)

const members = new Set(
  (
    'field_definition public_field_definition property_signature method_signature abstract_method_signature index_signature ' +
    'function_signature ambient_declaration decorator'
  ).split(' '),
)

/** The statements of JavaScript and TypeScript, whose grammars have the same names. */
const scriptStatements: StatementGrammar = {
  heads,
  continuations: new Set(['else_clause', 'catch_clause', 'finally_clause']),
  isStatement: (type) => /_(?:statement|declaration)$/.test(type) || heads.has(type) || members.has(type),
  isToken: (type) => type === 'string' || type === 'template_string' || type === 'regex',
  quietTokens: new Set('string template_string number true false null undefined ( ) [ ] { } , :'.split(' ')),
  isNoCode: (type) => type === ';',
  classBody(node) {
    const definition = node.type === 'export_statement' ? node.childForFieldName('declaration') : node
    return definition !== null && /^(?:abstract_)?class_declaration$/.test(definition.type)
      ? definition.childForFieldName('body')
      : null
  },
  operations: scriptOperations,
}

type ComparedNames = { before: ScriptNames; after: ScriptNames }

/** Finds an export, function, class, type or member that is gone, and in a page's script any variable of its top level, which others see. */
function scriptNamesKept({ before, after }: ComparedNames): CheckResult {
  const figures = { before: before.bindings.length, after: after.bindings.length }
  const left = new Set(after.bindings.map(keyOf))
  const isLost = (one: ScriptBinding) => {
    const isVariable = one.kind === 'variable' || one.kind === 'constant'
    if (left.has(keyOf(one)) || (isVariable && before.isModule)) return false
    return one.kind !== 'constant' || !left.has(`variable ${one.name}`)
  }
  const lost = before.bindings.find(isLost)
  if (lost === undefined) return { ...figures, fault: undefined }
  const isConstant = lost.kind === 'variable' && left.has(`constant ${lost.name}`)
  const problem = isConstant ? 'became a constant, which another script may assign' : `is gone; ${reasonFor(lost)}`
  return { ...figures, fault: `line ${lost.line}: ${JSON.stringify(lost.name)} ${problem}` }
}

function keyOf({ kind, name }: ScriptBinding): string {
  return `${kind} ${name}`
}

function reasonFor({ kind }: ScriptBinding): string {
  if (kind === 'export') return 'it was exported'
  return kind === 'member' ? 'its class had it' : 'it was defined here'
}

/** Finds modules not loaded any more or in another order, and used names not imported. TypeScript loads nothing for types and unused names. */
function scriptImportsKept({ before, after }: ComparedNames, { isTyped }: { isTyped: boolean }): CheckResult {
  const figures = { before: before.imports.length, after: after.imports.length }
  const left = new Set(after.imports.map(importKey))
  const lost = before.imports.find(
    (one) => !left.has(importKey(one)) && (one.name === undefined || after.uses.has(one.name)),
  )
  if (lost !== undefined)
    return { ...figures, fault: `line ${lost.line}: the import of ${shown(lost)} is gone, and is still needed` }
  const needless = new Set(before.loads.filter((module) => isTyped && isElided(module, before)))
  const loads = before.loads.filter((module) => !needless.has(module))
  const loaded = after.loads.filter((module) => !needless.has(module))
  const unloaded = loads.find((module) => !loaded.includes(module))
  if (unloaded !== undefined)
    return {
      ...figures,
      fault: `the module ${JSON.stringify(unloaded)} is not loaded any more, which may be needed for its effect`,
    }
  const firsts = (all: readonly string[]) => [...new Set(all)].filter((module) => loads.includes(module))
  const isSameOrder = firsts(loads).every((module, at) => firsts(loaded)[at] === module)
  return { ...figures, fault: isSameOrder ? undefined : 'modules are loaded in another order' }
}

/** Whether only imports load it of which the compiler makes nothing: nothing uses their names, or what they import is a type. */
function isElided(module: string, { imports, loads, uses }: ScriptNames): boolean {
  const own = imports.filter((one) => one.module === module)
  const isLoadedOtherwise = loads.filter((one) => one === module).length > new Set(own.map(({ line }) => line)).size
  return !isLoadedOtherwise && own.every(({ name, isType }) => name !== undefined && (isType || !uses.has(name)))
}

function importKey({ module, imported, name }: ScriptImport): string {
  return JSON.stringify([module, imported ?? null, name ?? null])
}

function shown({ module, name }: ScriptImport): string {
  return name === undefined ? JSON.stringify(module) : `"${name}" from ${JSON.stringify(module)}`
}
