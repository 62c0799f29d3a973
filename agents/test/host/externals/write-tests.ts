import { fixableFaults } from '#languages/python/lint/fixable-faults.ts'
import type { Diagnostic } from '#languages/lint/lint-report.ts'
import type { PathRules } from '#domain/path-rules.ts'
import type { Linter } from '#languages/lint/linter.ts'
import { hasCode } from '#domain/error.ts'
import { languageOf } from '#languages/syntax/grammars.ts'
import { namesInBody } from '#change-sets/test-text.ts'
import type { SyntaxChecker } from '#stages/operate/evidence/syntax-evidence.ts'
import { hasNewFault } from '#stages/operate/evidence/parses.ts'
import { type TestFunction, testNamed, withoutTests } from '#stages/operate/evidence/test-functions.ts'
import { refusal, type Workspace } from '#stages/operate/workspace/open-workspace.ts'
import { applyFixes, type LintDeps } from '#stages/operate/tools/lint/lint-node.ts'
import type { TestProof, TestProofs } from '#stages/operate/tools/tests/prove-tests.ts'
import { shapeTests } from '#stages/operate/tools/tests/shape-tests.ts'
import { moduleName } from '#stages/operate/tools/tests/test-imports.ts'
import { survivorsOf } from '#stages/operate/tools/tests/try-mutants.ts'
import { extendTests } from './extend-tests.ts'
import type { TestPlace } from './test-place.ts'

export type WritingDeps = LintDeps & {
  linter: Pick<Linter, 'keepFormat'>
  syntax: Pick<SyntaxChecker, 'faults' | 'tests'>
  workspace: Pick<Workspace, 'exists' | 'readText' | 'writeText' | 'deleteFile'>
  tests: Pick<TestProofs, 'prove'>
  rulesOf(path: string): Promise<PathRules>
}

/** What became of a text of tests: `kept` always pass and notice at least one planted fault, where there is one. */
export type WrittenTests = { path: string; proof: TestProof; dropped: TestProof['failed']; kept: number }

const maxCharacters = 40_000
const maxRounds = 3

/**
 * Writes the tests of a node to the file with those of its module, runs them, and keeps those that always pass. Throws WorkspaceFault
 * refused, with a reason that lets the model correct it, and leaves the file as it was before, where nothing can be kept: a text that does
 * not parse or has no test, one in another style than that of the file, one that the repository's linter finds fault with or that has lines over
 * its limit, tests that cannot be run, all of which fail, or that notice none of the planted faults. Tests that the repository has stay as they
 * are.
 */
export async function writeTests(
  given: string,
  { place, source }: { place: TestPlace; source: string },
  deps: WritingDeps,
  signal: AbortSignal,
): Promise<WrittenTests> {
  const { workspace } = deps
  const { path, base } = place
  const before = workspace.exists(path) ? await workspace.readText(path) : undefined
  try {
    const text = await shaped(beginning(given, place, source), place, deps)
    const meant = await withoutPinned(text, { path, source }, deps)
    return await keptTests(meant, { path, base }, deps, signal)
  } catch (error) {
    if (before !== undefined) await workspace.writeText(path, before)
    else if (workspace.exists(path)) await workspace.deleteFile(path)
    throw error
  }
}

type Based = Pick<TestPlace, 'path' | 'base'>

async function shaped(text: string, file: TestPlace, deps: WritingDeps): Promise<string> {
  const { path, base } = file
  const tests = await testsIn(text, languageOf(path) ?? '', deps)
  const taken = new Set(base === undefined ? [] : namesInBody(path, base))
  return shapeTests(text, tests, { ...file, taken })
}

function beginning(given: string, { imports, setup }: TestPlace, source: string): string {
  if (given.length > maxCharacters) throw refusal(`the text has more than ${maxCharacters} characters`)
  const lines = given.replaceAll(/\r\n?/g, '\n').trim().split('\n')
  const isFenced = lines.length > 2 && /^```\w*$/.test(lines[0] ?? '') && lines.at(-1) === '```'
  const text = (isFenced ? lines.slice(1, -1) : lines).join('\n').trim()
  if (text === '') throw refusal('the text is empty')
  const name = new RegExp(`\\b${moduleName(source).replaceAll(/[^\w-]/g, '.')}\\b`)
  if (!lines.some((line) => /\b(?:from|import|require)\b/.test(line) && name.test(line))) return `${imports}\n${text}\n`
  const isSetUp = text.includes('sys.path') || /^(['"])use strict\1/m.test(text)
  return `${isSetUp ? '' : setup}${text}\n`
}

async function withoutPinned(text: string, { path, source }: { path: string; source: string }, deps: WritingDeps) {
  const language = languageOf(path) ?? ''
  const tests = await testsIn(text, language, deps)
  const code = await deps.workspace.readText(source)
  const pinned = pinnedCrashes(tests, { text, source: code, isPython: language === 'python' })
  if (pinned.length === 0) return text
  const left = withoutTests(text, tests, new Set(pinned.map(({ test }) => test)))
  if (left !== undefined) return left
  const named = pinned.slice(0, shownFailures).map(({ test, error }) => `${test.name} (${error})`)
  throw refusal(
    `tests state what the code promises, and nothing in ${source} says that it raises this: ${named.join(', ')}`,
  )
}

async function keptTests(
  text: string,
  { path, base }: Based,
  deps: WritingDeps,
  signal: AbortSignal,
): Promise<WrittenTests> {
  const language = languageOf(path) ?? ''
  const dropped: TestProof['failed'] = []
  let left = await lintedText(text, path, deps)
  for (let round = 0; round < maxRounds; round++) {
    const tests = await testsIn(left, language, deps)
    await deps.workspace.writeText(path, base === undefined ? left : await extended(left, { path, base }, deps))
    const proof = await deps.tests.prove(path, signal)
    if (proof.unreported !== undefined) throw refusal(`the tests cannot be run: ${proof.unreported}`)
    const kept = proof.passed.filter((name) => !proof.before.collected.includes(name)).length
    if (proof.failed.length === 0) return provedTests({ path, proof, dropped, kept })
    const failing = failedTests(proof, tests)
    const without = failing && withoutTests(left, tests, failing)
    if (without === undefined) throw refusal(failureText(proof.failed))
    dropped.push(...proof.failed)
    left = await lintedText(without, path, deps)
  }
  throw refusal(`without the tests that failed others fail: ${failureText(dropped)}`)
}

async function testsIn(text: string, language: string, { syntax }: WritingDeps): Promise<TestFunction[]> {
  const faults = await syntax.faults({ language, text })
  const empty = { places: 0, tokens: [], first: undefined }
  if (hasNewFault(empty, faults) && faults.first !== undefined)
    throw refusal(`the text does not parse: line ${faults.first.line}: ${faults.first.words}`)
  const tests = await syntax.tests({ language, text })
  if (tests.length === 0) throw refusal('the text has no test')
  return tests
}

/** Undefined where something failed that is none of them, such as what is done before all tests. */
function failedTests({ failed }: TestProof, tests: readonly TestFunction[]): Set<TestFunction> | undefined {
  const named = failed.map(({ name }) => testNamed(name, tests))
  return named.every((test) => test !== undefined) ? new Set(named) : undefined
}

const shownFailures = 5

function failureText(failed: TestProof['failed']): string {
  const shown = failed.slice(0, shownFailures).map(({ name, message }) => `${name}: ${message}`)
  const more = failed.length > shownFailures ? [`and ${failed.length - shownFailures} more`] : []
  return `every test must pass in every run: ${[...shown, ...more].join('; ')}`
}

function provedTests(written: WrittenTests): WrittenTests {
  const { proof } = written
  if (written.kept === 0) throw refusal('no test was run')
  const { mutants, unjudged } = proof
  if (mutants.length + unjudged.length === 0 || mutants.some(({ isKilled }) => isKilled)) return written
  if (mutants.length === 0)
    throw refusal(`the tests came to no verdict on any of the planted faults: ${unjudged.join('; ')}`)
  const survivors = survivorsOf(proof).join('; ')
  throw refusal(`the tests pass whatever the code does: none of these planted faults was noticed: ${survivors}`)
}

async function lintedText(text: string, path: string, deps: WritingDeps): Promise<string> {
  const rules = await deps.rulesOf(path)
  const { lineLength } = rules.text
  const isPython = languageOf(path) === 'python'
  let linted = isPython && tooLong(text, lineLength) ? await deps.linter.keepFormat('', text, rules) : text
  for (let round = 0; round <= maxRounds; round++) {
    const { diagnostics, guards, syntaxErrors } = await lintOf(linted, rules.lint, deps)
    const [error] = syntaxErrors
    if (error !== undefined) throw refusal(`the text does not parse: line ${error.line}: ${error.message}`)
    const faults = [...diagnostics, ...guards.filter((guard) => !diagnostics.some((own) => isSame(guard, own)))]
    if (faults.length === 0) break
    const file = { path, text: linted, keptNames: [], ownModules: rules.ownModules }
    const fixable = new Set(fixableFaults(faults, file, deps.python))
    const fixes = faults.map((fault) => (fixable.has(fault) ? fault : { ...fault, fix: undefined }))
    const fixed = await applyFixes({ source: linted, rules: rules.lint, diagnostics: fixes }, undefined, deps)
    if (fixed.applied.length === 0) {
      const shown = faults.slice(0, shownFailures).map(({ line, code, message }) => `line ${line}: ${code} ${message}`)
      throw refusal(`the repository's linter has faults: ${shown.join('; ')}`)
    }
    linted = fixed.source
  }
  const long = tooLong(linted, lineLength)
  if (long !== undefined) throw refusal(`${long}; at most ${lineLength} are allowed`)
  return linted
}

async function extended(text: string, { path, base }: Based & { base: string }, deps: WritingDeps): Promise<string> {
  const rules = await deps.rulesOf(path)
  const merged = extendTests(path, base, text)
  const were = new Set((await lintOf(base, rules.lint, deps)).diagnostics.map(({ code }) => code))
  const { diagnostics } = await lintOf(merged, rules.lint, deps)
  const unsorted = diagnostics.filter(({ code }) => code === 'I001' && !were.has(code))
  if (unsorted.length === 0) return merged
  return (await applyFixes({ source: merged, rules: rules.lint, diagnostics: unsorted }, undefined, deps)).source
}

function isSame(left: Diagnostic, right: Diagnostic): boolean {
  return left.code === right.code && left.start === right.start
}

/** The first line of code that is longer, in words. Comments are left to the evidence, which lets long addresses be. */
function tooLong(text: string, lineLength: number): string | undefined {
  const lines = text
    .split('\n')
    .map((line) => ({ length: Array.from(line).length, isComment: /^\s*(?:#|\/\/|\*)/.test(line) }))
  const at = lines.findIndex(({ length, isComment }) => length > lineLength && !isComment)
  return at === -1 ? undefined : `line ${at + 1} has ${lines[at]?.length} characters`
}

async function lintOf(text: string, rules: PathRules['lint'], { linter }: WritingDeps) {
  try {
    return await linter.lint(text, rules)
  } catch (error) {
    if (hasCode(error, 'TOOL_006')) throw refusal(error.message)
    throw error
  }
}

const ofNonsense =
  /^(?:Exception|BaseException|(?:Type|Attribute|Key|Index|Name|UnboundLocal|Recursion|ZeroDivision|Reference|Range|Lookup|Arithmetic)Error)$/

/** A call that expects errors, or a handler of them in a test: it passes with each. */
const pythonErrors =
  /(?:\b(?:assertRaises|assertRaisesRegex|raises)\(\s*(?:(?:expected_)?exception\s*=\s*)?|^[ \t]*except\b[ \t]*)(\([^()]*\)|[\w.]+|:)/gm
const scriptThrows = /(?:\b(?:throws|rejects)\s*\(|\.toThrow(?:Error)?\(\s*([A-Z]\w*)?)/g
/** Matches comments, which mention errors that nothing throws. */
const scriptComments = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/g
const scriptType = /,\s*(?:\{\s*name:\s*['"])?([A-Z]\w*Error)\b/

/** Finds tests that state a crash: an error that nothing in the code's file raises, catches or names is no promise. */
export function pinnedCrashes(
  tests: readonly TestFunction[],
  { text, source, isPython }: { text: string; source: string; isPython: boolean },
): { test: TestFunction; error: string }[] {
  const names = new Set((isPython ? source : source.replaceAll(scriptComments, '')).match(/\w+/g))
  const isMeant = (error: string) => names.has(error) || (!isPython && names.has('throw'))
  return tests.flatMap((test) => {
    const body = text.slice(test.start, test.end)
    const errors = isPython ? errorsInPython(body) : scriptErrors(body)
    const error = errors.find((name) => ofNonsense.test(name) && !isMeant(name))
    return error === undefined ? [] : [{ test, error }]
  })
}

function errorsInPython(body: string): string[] {
  return Array.from(body.matchAll(pythonErrors), ([, named = '']) =>
    named === ':' ? ['BaseException'] : Array.from(named.matchAll(/(?:\w+\.)*(\w+)/g), ([, name = '']) => name),
  ).flat()
}

function scriptErrors(body: string): string[] {
  return Array.from(body.matchAll(scriptThrows), ({ 1: name, index }) => {
    return name ?? scriptType.exec(body.slice(index, index + 500))?.[1] ?? 'Exception'
  })
}
