import { figure } from '#domain/figure.ts'
import { isUtf8 } from 'node:buffer'
import { hasCode } from '#domain/error.ts'
import { purposeOf } from '#domain/path-purpose.ts'
import { isGo, isGoRules, scriptSuffixOf } from '#domain/path-rules.ts'
import type { Linter } from '#languages/lint/linter.ts'
import type { RepositoryLint } from '#languages/lint/repository-lint.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { languageOf } from '#languages/syntax/grammars.ts'
import type { SourceFile } from '#stages/discover/choose-files.ts'
import { bufferOf } from '#stages/discover/source-text.ts'
import type { LintFault, SurveyPool } from './survey-pool.ts'

export type OtherSurvey = {
  faults: Map<string, readonly LintFault[]>
  unlinted: Map<string, string>
  notUtf8: Set<string>
}

type OtherInput = {
  files: readonly SourceFile[]
  isWorkedOn(path: string): boolean
  read(hash: string): Promise<Uint8Array>
}

type OtherDeps = {
  surveys: Pick<SurveyPool, 'placedFaults'>
  linter: Pick<Linter, 'lint'>
  rulesFor: RepositoryLint['rulesFor']
}

const atOnce = 8
/** A larger file is not read: a workspace could not write it either. */
export const maxFileBytes = 4_000_000
export const tooLarge = `it is larger than ${figure(maxFileBytes)} bytes`

/** Is true when another program than Ruff lints the file. */
export function isOtherLinted(path: string): boolean {
  return scriptSuffixOf(path) !== undefined || isGo(path)
}

/** JavaScript or TypeScript with code: a file of declarations describes what is written elsewhere. */
export function isLintedScript(path: string): boolean {
  return scriptSuffixOf(path) !== undefined && !/\.d\.[cm]?ts$/.test(path)
}

const namedTest = /[._-](?:test|spec)s?\.\w+$/
const deepInTests = /(?:^|\/)(?:tests?|specs?|__tests__)\/[^/]+\//

/**
 * Is true when a file is what tests read or run, and no test itself: in a folder of fixtures, or deep among the tests and not named as
 * one. Go compiles all of a folder but what is in `testdata`.
 */
export function isOtherTestData(path: string): boolean {
  const purpose = purposeOf(path)
  if (isGo(path)) return purpose === 'fixture'
  return purpose === 'fixture' || (purpose === 'test' && deepInTests.test(path) && !namedTest.test(path))
}

/**
 * The faults of the JavaScript, TypeScript and Go files that agents may work on, under the repository's own rules. Every such file is
 * either in `faults` or, with the reason, in `unlinted`.
 */
export async function surveyOtherLanguages(
  input: OtherInput,
  deps: OtherDeps,
  signal: AbortSignal,
): Promise<OtherSurvey> {
  const survey: OtherSurvey = { faults: new Map(), unlinted: new Map(), notUtf8: new Set() }
  const files = input.files.filter(({ path }) => isOtherLinted(path) && input.isWorkedOn(path))
  const judged = await mapBounded(files, atOnce, async (file) => {
    signal.throwIfAborted()
    return { path: file.path, faults: await faultsOf(file, input, { deps, notUtf8: survey.notUtf8 }) }
  })
  for (const { path, faults } of judged) {
    if (typeof faults === 'string') survey.unlinted.set(path, faults)
    else survey.faults.set(path, faults)
  }
  return survey
}

/** Or the reason why the file is not linted. */
async function faultsOf(
  { path, hash, size }: SourceFile,
  { read }: Pick<OtherInput, 'read'>,
  { deps, notUtf8 }: { deps: OtherDeps; notUtf8: Set<string> },
): Promise<readonly LintFault[] | string> {
  if (!isGo(path) && !isLintedScript(path)) return 'it only declares what is written elsewhere'
  const { lint: rules } = deps.rulesFor(path)
  if (isGo(path) && !isGoRules(rules)) return 'there is no gofmt'
  if (size > maxFileBytes) return tooLarge
  const bytes = bufferOf(await read(hash))
  if (!isUtf8(bytes)) {
    notUtf8.add(path)
    return 'it is not UTF-8'
  }
  if (rules.isExcluded) return "the repository's linter leaves it out"
  const text = bytes.toString()
  const report = await deps.linter.lint(text, rules).catch((error: unknown) => {
    if (hasCode(error, 'TOOL_006')) return error.message
    throw error
  })
  if (typeof report === 'string') return report
  const [broken] = report.syntaxErrors
  if (broken !== undefined)
    return `${isGo(path) ? 'gofmt' : 'oxlint'} cannot parse it: line ${broken.line}: ${broken.message}`
  if (report.diagnostics.length === 0) return []
  const linted = { language: languageOf(path) ?? 'javascript', text, diagnostics: report.diagnostics }
  const placed = await deps.surveys.placedFaults({ linted })
  return 'unreadable' in placed ? placed.unreadable : placed
}
