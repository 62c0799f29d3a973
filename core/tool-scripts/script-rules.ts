import type { ScriptProfile } from '#domain/script-profile.ts'
import { grailName } from './grail-name.ts'
import type { LocatedFault, ScriptFaultCode } from './script-declarations.ts'
import { scriptFault } from './script-fault.ts'
import { importFaults } from './script-imports.ts'
import { partsOf, walkLevels, type SyntaxNode } from './syntax-node.ts'

type Rule = {
  /** Of the syntax node. */
  type: string
  code: ScriptFaultCode
  message: string
  where?: (node: SyntaxNode) => boolean
}

/** Constructs no script may contain (features.md G2); E000 and E100 where no rule of G2 names what the sandbox lacks. */
const forbidden: readonly Rule[] = [
  { type: 'class_definition', code: 'E001', message: 'classes are not available in tool scripts; use dicts' },
  { type: 'yield', code: 'E002', message: 'yield is not available in tool scripts; return a list' },
  { type: 'with_statement', code: 'E003', message: 'with is not available in tool scripts; call an external' },
  { type: 'match_statement', code: 'E004', message: 'match is not available in tool scripts; write if and elif' },
  { type: 'delete_statement', code: 'E011', message: 'del is not available in tool scripts; build a new value' },
  {
    type: 'decorator',
    code: 'E000',
    message: 'the sandbox ignores decorators; call it yourself',
    where: isOwnDecorator,
  },
  { type: 'type_alias_statement', code: 'E000', message: 'the sandbox has no type aliases' },
  { type: 'for_statement', code: 'E000', message: 'the sandbox has no async for', where: has('async') },
  { type: 'for_in_clause', code: 'E000', message: 'the sandbox has no async for', where: has('async') },
  { type: 'except_clause', code: 'E000', message: 'the sandbox has no except*', where: has('*') },
  { type: 'binary_operator', code: 'E000', message: 'the sandbox has no operator @', where: has('@') },
  { type: 'string_start', code: 'E000', message: 'the sandbox has no t-strings', where: matches(/t/i) },
  { type: 'integer', code: 'E000', message: 'the sandbox has no complex numbers', where: matches(/j$/i) },
  { type: 'float', code: 'E000', message: 'the sandbox has no complex numbers', where: matches(/j$/i) },
  { type: 'call', code: 'E100', message: 'the sandbox has no str.format; write an f-string', where: callsFormat },
  {
    type: 'binary_operator',
    code: 'E100',
    message: 'the sandbox has no % for strings; write an f-string',
    where: fills,
  },
]
/** What the default profile leaves out, although the sandbox runs it. */
const notByDefault: readonly Rule[] = [
  { type: 'global_statement', code: 'E009', message: 'global is not available in tool scripts; return the value' },
  { type: 'nonlocal_statement', code: 'E010', message: 'nonlocal is not available in tool scripts; return the value' },
  { type: 'lambda', code: 'E012', message: 'lambda is not available in tool scripts; write a def' },
]
const rules: Readonly<Record<ScriptProfile, ReadonlyMap<string, readonly Rule[]>>> = {
  default: Map.groupBy([...forbidden, ...notByDefault], ({ type }) => type),
  monty: Map.groupBy(forbidden, ({ type }) => type),
}
const importing = new Set(['import_statement', 'import_from_statement', 'future_import_statement'])
/** Levels of the syntax tree. Deeper code ends the process in which it is compiled or type checked. */
const maxLevel = 200

export type RuleFaults = {
  faults: LocatedFault[]
  /** The text is Python as far as the tree shows; without that its statements cannot be trusted. */
  parses: boolean
  /** Neither Monty nor its type checker may be given the text. */
  tooDeep: boolean
}

/**
 * Faults of syntax and of constructs and imports that no script may contain, in source order. Of syntax errors the
 * first: the others are mostly its consequences, and so is what stands behind it.
 */
export function findRuleFaults(root: SyntaxNode, profile: ScriptProfile): RuleFaults {
  const faults: LocatedFault[] = []
  for (const { node, level } of walkLevels(root)) {
    if (level > maxLevel) {
      return { faults: [...faults, scriptFault(node, 'E000', 'nested too deeply')], parses: false, tooDeep: true }
    }
    if (node.isError || node.isMissing) {
      const tooDeep = isDeepError(root)
      return { faults: [...faults, syntaxFault(node)], parses: false, tooDeep }
    }
    if (!node.isNamed) continue
    const broken = rules[profile].get(node.type)?.find((rule) => rule.where?.(node) !== false)
    // What is wrong further down in a class or a with is told as well.
    if (broken !== undefined)
      faults.push({ ...scriptFault(node, broken.code, broken.message), endLine: node.startPosition.row + 1 })
    else if (importing.has(node.type)) faults.push(...importFaults(node, profile))
  }
  return { faults, parses: true, tooDeep: false }
}

/** An ERROR node holds what it could not arrange as a flat list, which another parser may nest. */
function isDeepError(root: SyntaxNode): boolean {
  for (const { node, level } of walkLevels(root)) {
    if (level > maxLevel || (node.isError && node.childCount > maxLevel)) return true
  }
  return false
}

/** What an error begins with is most often not closed. */
const opens = new Set(['(', '[', '{'])

function syntaxFault(node: SyntaxNode): LocatedFault {
  const near = node.text.slice(0, 200).trim().split('\n', 1)[0] ?? ''
  const what = node.isMissing
    ? `missing ${node.type}`
    : near === ''
      ? 'unexpected end'
      : `near ${JSON.stringify(near.slice(0, 60))}`
  const opening = node.children.findLast((child) => child !== null && opens.has(child.type))
  return scriptFault(opening ?? node, 'E000', `invalid syntax, ${what}`)
}

function has(type: string): (node: SyntaxNode) => boolean {
  return (node) => node.children.some((child) => child?.type === type)
}

function matches(pattern: RegExp): (node: SyntaxNode) => boolean {
  return (node) => pattern.test(node.text)
}

function callsFormat(node: SyntaxNode): boolean {
  const called = node.childForFieldName('function')
  return called?.childForFieldName('attribute')?.text === 'format' && isText(called.childForFieldName('object'))
}

function fills(node: SyntaxNode): boolean {
  return node.childForFieldName('operator')?.type === '%' && isText(node.childForFieldName('left'))
}

/** `@external` with parentheses is told of in words of its own. */
function isOwnDecorator(node: SyntaxNode): boolean {
  const [mark] = partsOf(node)
  return grailName(mark) !== 'external' && grailName(mark?.childForFieldName('function')) !== 'external'
}

function isText(node: SyntaxNode | null): boolean {
  return node?.type === 'string' || node?.type === 'concatenated_string'
}
