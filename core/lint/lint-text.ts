import { LRUCache } from 'lru-cache'
import { PositionEncoding, Workspace } from '@astral-sh/ruff-wasm-nodejs'
import type { LintRules } from '#domain/path-rules.ts'
import { isSelected, isUnder } from '#domain/rule-selectors.ts'
import { stringsOf, tableAt } from './configuration/config-tree.ts'
import { switchedOff, switchesOn } from './configuration/rule-selection.ts'
import { lintReportOf, type LintReport } from './lint-report.ts'

export type LintQuestion = { text: string; rules: LintRules }

/**
 * Faults no change may bring, whatever the repository's rules are: undefined names (F821, F822, F823), a name defined
 * twice (F811), an import nothing uses (F401), a return, yield or continue out of place (F7), and what does not run (E9).
 */
const guardRules = ['F401', 'F7', 'F811', 'F821', 'F822', 'F823', 'E9']

/** Workspaces are kept for the configurations used last; a repository has few. */
const keptWorkspaces = 40
const workspaces = new LRUCache<string, Workspace>({
  max: keptWorkspaces,
  dispose: (workspace) => workspace.free(),
})

/**
 * The faults of a Python text under the rules of its file. For threads only: Ruff throws for a text that it cannot take,
 * and its memory is damaged then.
 */
export function lintText({ text, rules }: LintQuestion): LintReport {
  const { options, previewOptions } = rules
  const first = includesGuards(options) ? workspaceOf(options).check(text) : undefined
  const guards = first?.filter(isGuard) ?? workspaceOf(guardOptions(options)).check(text)
  if (!isPython(text, guards)) return lintReportOf({ own: [], guards }, text, rules)
  const own = [first ?? workspaceOf(options).check(text)]
  if (previewOptions !== undefined) own.push(workspaceOf(previewOptions).check(text))
  return lintReportOf({ own, guards }, text, rules)
}

type RuffDiagnostic = ReturnType<Workspace['check']>[number]

function isBroken({ code }: Pick<RuffDiagnostic, 'code'>): boolean {
  return code === null || code === 'invalid-syntax'
}

function isGuard(one: RuffDiagnostic): boolean {
  return isBroken(one) || (one.code !== null && isSelected(one.code, guardRules))
}

/** Options that change nothing about the guards' faults; with any other the guards get a look of their own. */
const topOptions = new Set(['line-length', 'indent-width', 'target-version', 'builtins', 'lint'])
const lintOptions = new Set(
  (
    'select extend-select ignore extend-ignore per-file-ignores isort pydocstyle pycodestyle mccabe pep8-naming pylint ' +
    'flake8-annotations flake8-bandit flake8-bugbear flake8-builtins flake8-comprehensions flake8-errmsg ' +
    'flake8-implicit-str-concat flake8-import-conventions flake8-pytest-style flake8-quotes flake8-self ' +
    'flake8-tidy-imports flake8-unused-arguments'
  ).split(' '),
)

const knownAnswers = new LRUCache<string, boolean>({ max: keptWorkspaces })

/** Whether Ruff finds all the guards' faults with `options`, so that one look at the text is enough. */
function includesGuards(options: LintRules['options']): boolean {
  const key = JSON.stringify(options)
  const known = knownAnswers.get(key) ?? hasAllGuards(options)
  knownAnswers.set(key, known)
  return known
}

function hasAllGuards(options: LintRules['options']): boolean {
  const own = tableAt(options['lint'])
  if (own === undefined || !Object.keys(options).every((key) => topOptions.has(key))) return false
  if (!Object.keys(own).every((key) => lintOptions.has(key))) return false
  // An import that has to be there counts as used.
  if (tableAt(own['isort'])?.['required-imports'] !== undefined) return false
  // Those of single files are ignored for `*` here: see ruff-projects.ts.
  const off = [...switchedOff(own), ...Object.values(tableAt(own['per-file-ignores']) ?? {}).flatMap(stringsOf)]
  return guardRules.every(
    (guard) => switchesOn(own, guard) && !off.some((one) => isUnder(one, guard) || isUnder(guard, one)),
  )
}

/**
 * Whether some version of Python 3 takes the text. Of one that none takes, such as a file for Python 2, Ruff would still
 * report what it sees in the tokens. `guards` are under the repository's target, which may be older than the text.
 */
function isPython(text: string, guards: readonly RuffDiagnostic[]): boolean {
  return (
    !guards.some(isBroken) ||
    !workspaceOf({ lint: { select: [] } })
      .check(text)
      .some(isBroken)
  )
}

export type FormatQuestion = { before: string; after: string; lineLengths: readonly number[] }

/**
 * `after`, formatted as `before` is: where Ruff's formatter, which follows Black, leaves `before` as it is with one of the
 * line lengths, `after` gets the same treatment; otherwise nothing is formatted. Quotes stay as they are written. For
 * threads only, as lintText.
 */
export function keepFormat({ before, after, lineLengths }: FormatQuestion): string {
  const length = lineLengths.find((one) => isFormatted(before, one))
  return length === undefined ? after : (formatted(formatterOf(length), after) ?? after)
}

/** The texts asked for last: each round of fixes of a file asks for the same one. */
const formattedTexts = new LRUCache<string, boolean>({
  max: 100,
  maxSize: 4_000_000,
  sizeCalculation: (_is, key) => key.length,
})

function isFormatted(text: string, lineLength: number): boolean {
  const key = `${lineLength} ${text}`
  const known = formattedTexts.get(key) ?? formatted(formatterOf(lineLength), text) === text
  formattedTexts.set(key, known)
  return known
}

function formatterOf(lineLength: number): Workspace {
  return workspaceOf({ 'line-length': lineLength, format: { 'quote-style': 'preserve' } })
}

/** Undefined for a text that does not parse. */
function formatted(workspace: Workspace, text: string): string | undefined {
  try {
    return workspace.format(text)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return undefined
  }
}

/** Ruff answers with an error; a crash of the wasm is one of another name, and has to end the thread. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && error.name === 'Error'
}

/** Ruff's reason against options. */
export function refusalOfOptions(options: LintRules['options']): string | undefined {
  try {
    new Workspace(options, PositionEncoding.Utf16).free()
    return undefined
  } catch (error) {
    if (!isRefusal(error)) throw error
    return error.message
      .replace(/^Error: /, '')
      .replaceAll(' from the CLI', '')
      .trim()
  }
}

export function ruffVersion(): string {
  return Workspace.version()
}

function workspaceOf(options: Record<string, unknown>): Workspace {
  const key = JSON.stringify(options)
  const kept = workspaces.get(key)
  if (kept !== undefined) return kept
  // In preview Ruff names rules in words unless it is asked for codes.
  const made = new Workspace({ ...options, 'output-prefer-rule-codes': true }, PositionEncoding.Utf16)
  workspaces.set(key, made)
  return made
}

/** The same target and built-in names, and only the rules that guard every change. */
function guardOptions({ 'target-version': target, builtins }: Record<string, unknown>): Record<string, unknown> {
  return {
    ...(target === undefined ? {} : { 'target-version': target }),
    ...(builtins === undefined ? {} : { builtins }),
    lint: { select: guardRules },
  }
}
