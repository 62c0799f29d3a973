import type { Evidence } from '#domain/change-set.ts'
import { appliesTo, type CheckOf, checkRow, type EvidenceCheck, isTextCheck, type TextCheck } from '#domain/checks.ts'
import { defaultRulesOf, isGoRules, type PathRules } from '#domain/path-rules.ts'
import { fileKind, grammarVersion, languageOf } from '#languages/syntax/grammars.ts'
import { addedCharacter } from '#languages/syntax/hidden-characters.ts'
import type { Linter } from '#languages/lint/linter.ts'
import { hasCode, undefinedOn } from '#domain/error.ts'
import type { LintReport } from '#languages/lint/lint-report.ts'
import { notChecked, openSyntaxEvidence, type SyntaxChecker } from './syntax-evidence.ts'
import { documentedAs } from './parameters-documented.ts'
import { bodiesKept } from './bodies-kept.ts'
import { commentsKept } from './comments-kept.ts'
import { docstringOnly } from './docstring-only.ts'
import { lineLengthKept } from './line-length.ts'
import { lintBeforeAfter, type Linted } from './lint-before-after.ts'
import { neededImportsKept, namesKept } from './names-and-imports-kept.ts'
import { operandsKept } from './operands-kept.ts'
import { parsesAsBefore } from './parses.ts'
import { isScriptCheck, isScriptLanguage, type ScriptLanguage } from './javascript/script-evidence.ts'

import {
  type ComparedFacts,
  type CheckResult,
  once,
  openPythonFacts,
  type PythonReader,
  type ReadFile,
} from './python-facts.ts'
import { samplesMatch } from '#agents/sample_data/host/checks.ts'

/** Holds a file before and after a change; `before` is undefined for a new one, `after` for a deleted one. `inNode`: all edits are in the node. */
export type CheckedFile = {
  path: string
  before: string | undefined
  after: string | undefined
  inNode?: boolean
  executable?: boolean | undefined
  rules: PathRules
  /** Reads the other files as they are with the change; without it, what depends on them is not checked. */
  readFile?: ReadFile
}

export type EvidenceChecker = {
  /** Makes the checks, in the same order. Of a file that cannot be linted or parsed, `ok` is false and `detail` is the reason. */
  check(file: CheckedFile, checks: readonly TextCheck[]): Promise<Evidence[]>
}

/** Names the tools of the evidence for files that are linted, with the versions of the linters. */
export type EvidenceTools = { tools: ReadonlySet<string> }

type OtherDeps = { syntax: Pick<SyntaxChecker, 'compare' | 'check'> }

/** Caches what it reads of a text for the next operation on it. `cachedLength` bounds this for Python, in characters of text. */
export function openEvidenceChecker(deps: PythonDeps & OtherDeps): EvidenceChecker & EvidenceTools {
  const python = openPythonEvidence(deps)
  const other = openSyntaxEvidence(deps.syntax)
  const script = openScriptEvidence(deps, other)
  const go = openGoEvidence(deps, other)
  return {
    tools: new Set([deps.linter.version, treeSitter, deps.linter.scriptVersion, deps.linter.go.version]),
    async check(file, checks) {
      const language = languageOf(file.path)
      const text = { ...file, after: file.after ?? '' }
      const prove =
        language === 'python'
          ? python(text, checks)
          : isScriptLanguage(language)
            ? script(text, language)
            : language === 'go' && isGoRules(file.rules.lint)
              ? go(text)
              : other(text, language ?? 'unknown').prove // no check that reads a text applies to a file without a grammar
      const evidence: Evidence[] = []
      for (const check of checks) {
        const { path, inNode } = file
        if (!appliesTo(check, language)) {
          evidence.push(notApplicable(check, path, language))
          continue
        }
        const known = file.after === undefined ? deletionEvidence(check, file) : modeEvidence(check, file)
        const lost = check === 'parses' ? addedCharacter(file.before ?? '', text.after) : undefined
        if (known !== undefined) evidence.push(known)
        else if (lost !== undefined) evidence.push({ check, path, ok: false, tool: 'characters', detail: lost })
        else if (check === 'only_node_changed') evidence.push({ check, path, ok: inNode === true, tool: 'byte ranges' })
        else if (check === 'samples_match') evidence.push(await samplesEvidence(text, deps.python))
        else evidence.push(await prove(check))
      }
      return evidence
    },
  }
}

function notApplicable(of: TextCheck, path: string, language: string | undefined): Evidence {
  const { reads, languages } = checkRow(of)
  const lacking = reads === 'lint' ? 'linter' : languages === 'grammar' ? 'grammar' : 'such check'
  const detail = `there is no ${lacking} for ${fileKind(path, language)}`
  return { check: 'not_applicable', of, path, ok: true, tool: 'none', detail }
}

/** The checks to make of the text of a changed file: those that were asked for and, for a deleted Python file, whether others need it. */
export function checksOfFile(
  { path, isDeleted }: { path: string; isDeleted: boolean },
  asked: readonly EvidenceCheck[],
): TextCheck[] {
  const own: TextCheck[] = isDeleted && languageOf(path) === 'python' ? ['names_kept'] : []
  return [...new Set([...asked.filter(isTextCheck), ...own])]
}

/** Judges a deletion as such; undefined for a check that compares with an empty file. That others need it can be found out, that none does never. */
function deletionEvidence(check: TextCheck, { path, rules }: CheckedFile): Evidence | undefined {
  const proof = { check, path, tool: 'deletion' }
  switch (check) {
    case 'parses':
    case 'lint_before_after':
      return languageOf(path) === 'python' ? { ...proof, ok: true } : unprovedDeletion(check, path)
    case 'names_kept': {
      if (isScriptLanguage(languageOf(path))) return unprovedDeletion(check, path)
      if (languageOf(path) !== 'python') return undefined
      const isUsed = rules.keptNames === 'all' || rules.keptNames.length > 0
      return isUsed
        ? { ...proof, ok: false, detail: 'the file is deleted, and others may use it' }
        : unprovedDeletion(check, path)
    }
    default:
      return checkRow(check).proof === 'harmless' ? undefined : { ...proof, ok: false, detail: 'the file is deleted' }
  }
}

function unprovedDeletion(of: TextCheck, path: string): Evidence {
  return notChecked(of, path, 'nothing proves that no other file needs the deleted one')
}

/** A mode is in no node, and no docstring. */
function modeEvidence(check: TextCheck, { path, executable }: CheckedFile): Evidence | undefined {
  if (executable === undefined || (check !== 'docstring_only' && check !== 'only_node_changed')) return undefined
  return { check, path, ok: false, tool: 'file mode', detail: 'its mode changes' }
}

type TextFile = CheckedFile & { after: string }
type PythonCheck = CheckOf<'text' | 'lint'>

type PythonDeps = {
  linter: Pick<Linter, 'version' | 'scriptVersion' | 'lint' | 'go'>
  python: PythonReader
  cachedLength?: number
  /** Proves nothing from a part of a text. */
  inFull?: boolean
}

const treeSitter = 'tree-sitter-python'

/**
 * Makes the checks of a Python file. Each is asked of the statements alone that the change is in, which is quick; what these do not decide is
 * asked of the whole texts, each of which is parsed once. `inFull`: all is asked of these. Each text is linted once.
 */
function openPythonEvidence(deps: PythonDeps) {
  const compare = openPythonFacts(deps.python, deps.cachedLength)
  const { lint, version } = deps.linter

  return (file: TextFile, checks: readonly TextCheck[]) => {
    const { path, before, after } = file
    const facts = compare(before ?? '', after)
    const linted = once(() => lintBoth(file, lint))
    const asked = checks.filter(isFactCheck)
    const isInFull = deps.inFull === true || before === undefined || asked.length === 0
    const proved = isInFull ? undefined : facts.inPart((part) => provedOf(part, asked, file))
    return async (check: PythonCheck): Promise<Evidence> => {
      if (isFactCheck(check)) {
        const result = proved?.get(check) ?? factChecks[check](facts, file)
        return evidenceOf({ check, path, tool: treeSitter }, async () => result)
      }
      const makeCheck = { parses: parsesAsBefore, lint_before_after: lintBeforeAfter }[check]
      return evidenceOf({ check, path, tool: version }, async () => makeCheck(...(await linted()), facts.lineRuns))
    }
  }
}

function provedOf(part: ComparedFacts, asked: readonly FactName[], file: TextFile): Map<FactName, CheckResult> {
  const results = asked.map((check) => [check, factChecks[check](part, file)] as const)
  return new Map(results.filter(([check, { fault }]) => fault === undefined || ofDocstrings.has(check)))
}

/** What is wrong with a docstring that is written is in its definition, whatever the rest of the file is. */
const ofDocstrings: ReadonlySet<FactName> = new Set(['parameters_documented', 'says_something'])

/** Checks against the definition in the tree, so that samples do not outlive the signature that they were made for. */
async function samplesEvidence({ path, after, readFile }: TextFile, python: PythonReader): Promise<Evidence> {
  const check = 'samples_match'
  if (readFile === undefined) return notChecked(check, path, 'the file of the definition was not at hand')
  return evidenceOf({ check, path, tool: treeSitter }, () => samplesMatch({ path, after }, readFile, python))
}

function openScriptEvidence(
  { linter, syntax }: Pick<PythonDeps, 'linter'> & OtherDeps,
  other: ReturnType<typeof openSyntaxEvidence>,
) {
  return (file: TextFile, language: ScriptLanguage) => {
    const { path, before, after } = file
    const rules = file.rules.lint.suffix === undefined ? { ...file.rules, lint: defaultRulesOf(path).lint } : file.rules
    const { prove, isOnlyComments } = other(file, language)
    return async (check: PythonCheck): Promise<Evidence> => {
      if (check === 'lint_before_after') {
        const tool = linter.scriptVersion
        return evidenceOf({ check, path, tool }, async () =>
          lintBeforeAfter(...(await lintBoth({ ...file, rules }, linter.lint))),
        )
      }
      if (!isScriptCheck(check)) return prove(check)
      // Statements are read only where others than comments change.
      const isProved = check !== 'line_length' && (await isOnlyComments().catch(undefinedOn('TOOL_006')))
      if (isProved === true) return prove(check)
      const tool = grammarVersion(language)
      const of = { check, before, after, language, limits: rules.text }
      const own = await evidenceOf({ check, path, tool }, () => syntax.check(of))
      return check === 'comments_kept' && own.ok ? prove(check) : own
    }
  }
}

/**
 * Makes the checks of Go that is linted. Where gofmt makes the same text of both sides, only the format changes, and that proves most of
 * them. Where it does not, `other` compares what gofmt makes of both: a patch may format a file and add comments to it.
 */
function openGoEvidence({ linter }: Pick<PythonDeps, 'linter'>, other: ReturnType<typeof openSyntaxEvidence>) {
  return (file: TextFile) => {
    const { path, before, after } = file
    const tool = linter.go.version
    const formatted = async () => ({
      before: before === undefined ? undefined : ((await linter.go.formatted(before)) ?? before),
      after: (await linter.go.formatted(after)) ?? after,
    })
    return async (check: PythonCheck): Promise<Evidence> => {
      const proof = { check, path, tool }
      if (check === 'parses')
        return evidenceOf(proof, async () => parsesAsBefore(...(await lintBoth(file, linter.lint))))
      if (check === 'lint_before_after')
        return evidenceOf(proof, async () => lintBeforeAfter(...(await lintBoth(file, linter.lint))))
      if (checkRow(check).proof !== 'harmless') return other(file, 'go').prove(check)
      const texts = await formatted().catch(undefinedOn('TOOL_006'))
      if (texts === undefined) return other(file, 'go').prove(check)
      if (texts.before !== texts.after) return other({ ...file, ...texts }, 'go').prove(check)
      return { ...proof, ok: true, detail: 'gofmt makes the same text of both: only the format changes' }
    }
  }
}

type FactCheck = (facts: ComparedFacts, file: Pick<TextFile, 'path' | 'rules' | 'before'>) => CheckResult

const factChecks = {
  comments_kept: (facts) => commentsKept(facts),
  names_kept: ofCode((facts, { rules }) => namesKept(facts, rules)),
  needed_imports_kept: ofCode((facts, { path, rules: { ownModules } }) =>
    neededImportsKept(facts, { path, ownModules }),
  ),
  line_length: (facts, { rules }) => lineLengthKept(facts, rules.text),
  bodies_kept: ofCode((facts) => bodiesKept(facts)),
  operands_kept: ofCode((facts) => operandsKept(facts)),
  docstring_only: (facts, { before }) => (before === undefined ? { fault: 'the file is new' } : docstringOnly(facts)),
  parameters_documented: ({ before, after }) => documentedAs('parameters_documented', before.docs(), after.docs()),
  says_something: ({ before, after }) => documentedAs('says_something', before.docs(), after.docs()),
} as const satisfies Partial<Record<PythonCheck, FactCheck>>
type FactName = keyof typeof factChecks

function isFactCheck(check: TextCheck): check is FactName {
  return Object.hasOwn(factChecks, check)
}

/** A check of what the code alone decides: another docstring or comment changes nothing of it. */
function ofCode(check: FactCheck): FactCheck {
  return (facts, file) => (facts.isSameCode() ? { fault: undefined } : check(facts, file))
}

async function evidenceOf(proof: Pick<Evidence, 'check' | 'path' | 'tool'>, makeCheck: () => Promise<CheckResult>) {
  try {
    const { fault, says, ...figures } = await makeCheck()
    const detail = fault ?? says
    return { ...proof, ok: fault === undefined, ...figures, ...(detail === undefined ? {} : { detail }) }
  } catch (error) {
    if (!hasCode(error, 'TOOL_006')) throw error
    return { ...proof, ok: false, detail: error.message }
  }
}

async function lintBoth({ before, after, rules }: TextFile, lint: Linter['lint']): Promise<[Linted, Linted]> {
  const was = before === undefined ? emptyReport : await lint(before, rules.lint)
  const now = await lint(after, rules.lint)
  return [
    { text: before ?? '', report: was },
    { text: after, report: now },
  ]
}

const emptyReport: LintReport = { diagnostics: [], guards: [], syntaxErrors: [] }
