import { createRequire } from 'node:module'
import v8 from 'node:v8'
import type * as RuffModule from '@astral-sh/ruff-wasm-nodejs'
import { LRUCache } from 'lru-cache'
import { isSelected, isUnder, type LintRules } from '#domain/path-rules.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { stringsOf, tableAt } from './configuration/config-tree.ts'
import { switchedOff, switchesOn } from './configuration/rule-selection.ts'
import { lintReportOf, type LintReport } from './lint-report.ts'

export type LintQuestion = { text: string; rules: LintRules }

/**
 * The guard rules, for faults that no change may add whatever the repository's rules are: undefined names (F821, F822,
 * F823), a name defined twice (F811), an unused import (F401), a misplaced return or yield (F7), code that fails (E9).
 */
const guardRules = ['F401', 'F7', 'F811', 'F821', 'F822', 'F823', 'E9']

type Workspace = RuffModule.Workspace

/** Says how much a function of WebAssembly may do before V8 compiles it once more, in about so many bytes of its code. */
const tieringBudget = { usual: 13_000_000, ofRuff: 2 ** 31 - 1 }

/**
 * Loads Ruff under a larger budget. With the usual one V8 recompiles Ruff's five largest functions after the first twenty texts: 4 to
 * 7 s of CPU and 100 MB in every process that lints anything, for 1 ms less per text (171 files of Python's library). With this one
 * it does so after some hundred texts. The flag is the process's, and counts for the modules that are made while it is set.
 */
function loadRuff(): typeof RuffModule {
  v8.setFlagsFromString(`--wasm-tiering-budget=${tieringBudget.ofRuff}`)
  try {
    return createRequire(import.meta.url)('@astral-sh/ruff-wasm-nodejs')
  } finally {
    v8.setFlagsFromString(`--wasm-tiering-budget=${tieringBudget.usual}`)
  }
}

const ruff = loadRuff()

/** Ruff's workspaces are cached by configuration; a repository has few. */
const cachedWorkspaces = 40
const workspaces = new LRUCache<string, Workspace>({
  max: cachedWorkspaces,
  dispose: (workspace) => workspace.free(),
})

/** The faults of a text under its file's rules. Only for threads: a text that Ruff cannot handle damages its memory. */
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

/** Options that do not affect the guard rules; with any other option these are checked separately. */
const topOptions = new Set(['line-length', 'indent-width', 'target-version', 'builtins', 'lint'])
const lintOptions = new Set(
  (
    'select extend-select ignore extend-ignore per-file-ignores isort pydocstyle pycodestyle mccabe pep8-naming pylint ' +
    'flake8-annotations flake8-bandit flake8-bugbear flake8-builtins flake8-comprehensions flake8-errmsg ' +
    'flake8-implicit-str-concat flake8-import-conventions flake8-pytest-style flake8-quotes flake8-self ' +
    'flake8-tidy-imports flake8-unused-arguments'
  ).split(' '),
)

const knownAnswers = new LRUCache<string, boolean>({ max: cachedWorkspaces })

/** Is true when Ruff reports all faults of the guard rules with `options`, so that one check is enough. */
function includesGuards(options: LintRules['options']): boolean {
  return getOrMake(knownAnswers, JSON.stringify(options), () => hasAllGuards(options))
}

function hasAllGuards(options: LintRules['options']): boolean {
  const own = tableAt(options['lint'])
  if (own === undefined || !Object.keys(options).every((key) => topOptions.has(key))) return false
  if (!Object.keys(own).every((key) => lintOptions.has(key))) return false
  // Ruff treats a required import as used.
  if (tableAt(own['isort'])?.['required-imports'] !== undefined) return false
  // ruff-projects.ts writes a file's own ignores as those of `*`.
  const off = [...switchedOff(own), ...Object.values(tableAt(own['per-file-ignores']) ?? {}).flatMap(stringsOf)]
  return guardRules.every(
    (guard) => switchesOn(own, guard) && !off.some((one) => isUnder(one, guard) || isUnder(guard, one)),
  )
}

/**
 * Is true when the text is valid in some version of Python 3. For any other text, such as Python 2, Ruff still reports faults in the
 * tokens. `guards` were found with the repository's target version, which may be older than the text's.
 */
function isPython(text: string, guards: readonly RuffDiagnostic[]): boolean {
  if (!guards.some(isBroken)) return true
  const found = workspaceOf({ lint: { select: [] } }).check(text)
  return !found.some(isBroken)
}

export type FormatQuestion = { before: string; after: string; lineLengths: readonly number[] }

/**
 * Formats `after` if `before` is formatted: if Ruff's formatter, which follows Black, does not change `before` with one
 * of the line lengths, `after` is formatted with the same one; otherwise it is returned unchanged. Quotes stay as
 * written. Only for threads, like `lintText`.
 */
export function keepFormat({ before, after, lineLengths }: FormatQuestion): string {
  const length = lineLengths.find((one) => isFormatted(before, one))
  return length === undefined ? after : (formatted(formatterOf(length), after) ?? after)
}

/** Cached because each round of fixes of a file asks for the same text. */
const formattedTexts = new LRUCache<string, boolean>({
  max: 100,
  maxSize: 4_000_000,
  sizeCalculation: (_is, key) => key.length,
})

function isFormatted(text: string, lineLength: number): boolean {
  return getOrMake(formattedTexts, `${lineLength} ${text}`, () => formatted(formatterOf(lineLength), text) === text)
}

function formatterOf(lineLength: number): Workspace {
  return workspaceOf({ 'line-length': lineLength, format: { 'quote-style': 'preserve' } })
}

function formatted(workspace: Workspace, text: string): string | undefined {
  try {
    return workspace.format(text)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return undefined
  }
}

/** Ruff refuses with an `Error`; a crash of the wasm throws one with another name, and must end the thread. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && error.name === 'Error'
}

export function refusalOfOptions(options: LintRules['options']): string | undefined {
  try {
    new ruff.Workspace(options, ruff.PositionEncoding.Utf16).free()
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
  return ruff.Workspace.version()
}

function workspaceOf(options: Record<string, unknown>): Workspace {
  // In preview Ruff reports rules by name unless codes are preferred.
  const all = { ...options, 'output-prefer-rule-codes': true }
  return getOrMake(workspaces, JSON.stringify(options), () => new ruff.Workspace(all, ruff.PositionEncoding.Utf16))
}

function guardOptions({ 'target-version': target, builtins }: Record<string, unknown>): Record<string, unknown> {
  return {
    ...(target === undefined ? {} : { 'target-version': target }),
    ...(builtins === undefined ? {} : { builtins }),
    lint: { select: guardRules },
  }
}
