import { AppError } from '#domain/error.ts'
import type { PathRules } from '#domain/path-rules.ts'
import { isKept } from '#lint/fixable-faults.ts'
import {
  isLintConfig,
  readRepositoryLint,
  type ConfigFile,
  type OptionsCheck,
  type RepositoryLint,
} from '#lint/repository-lint.ts'
import { defaultTextStyle } from '#domain/path-rules.ts'
import { mapBounded } from '#objects/map-bounded.ts'
import type { RepositoryRules } from '#objects/repository-rules.ts'
import { foldDocstringFacts, type DocstringSurvey } from '#python/docstring-survey.ts'
import { foldKeptNames, type ModuleUses } from '#python/module-uses.ts'
import { foldTestData } from '#python/test-data.ts'
import { isStub } from '#python/stub-file.ts'
import { languageOf } from '#syntax/grammars.ts'
import type { SourceFile } from '../discover/choose-files.ts'
import type { LintFault, SurveyedFile } from './surveyed-file.ts'
import type { SurveyPool } from './survey-pool.ts'

export type SurveyInput = {
  /** All files of the snapshot: what is not worked on may still import what is. */
  files: readonly SourceFile[]
  /** Whether agents may work in the file: only those are linted. */
  isWorkedOn(path: string): boolean
  read(hash: string): Promise<Uint8Array>
}

export type SurveyDeps = {
  surveys: SurveyPool
  /** Judges the options of the repository's configuration. */
  linter: OptionsCheck
}

/** What a repository says about its Python files, and where in them there is work. */
export type Survey = {
  rules: RepositoryRules
  /** Sorted by place. Undefined: the file is not linted, `unlinted` says why where there is a reason. */
  faults: ReadonlyMap<string, readonly LintFault[]>
  unlinted: ReadonlyMap<string, string>
  /** Whether tests read the file as text: its faults are often what is tested. */
  isTestData(path: string): boolean
  docstrings: DocstringSurvey
  /** What of the repository's configuration cannot be honoured, and what is left alone in all of it. */
  notices: readonly string[]
}

/** Files that are read and looked at at once, for each thread. */
const atOnce = 4
/** A file that is larger is not linted: its faults could not be fixed in a workspace either. */
const maxFileBytes = 4_000_000

/**
 * Reads the repository's lint configuration, then every Python file in threads: its lint faults under the repository's own
 * rules, its docstrings, and what it uses of other modules. No model is asked. Files that cannot be looked at are in
 * `unlinted`.
 */
export async function surveyRepository(input: SurveyInput, deps: SurveyDeps, signal: AbortSignal): Promise<Survey> {
  const python = input.files.filter(({ path, size }) => languageOf(path) === 'python' && size <= maxFileBytes)
  const lint = await readConfiguration(input, deps)
  const facts = new Map<string, SurveyedFile>()
  const unlinted = new Map<string, string>()
  await mapBounded(python, deps.surveys.threads * atOnce, async (file) => {
    signal.throwIfAborted()
    const surveyed = await surveyFile(file, { input, lint, deps })
    if ('unreadable' in surveyed) unlinted.set(file.path, surveyed.unreadable)
    else facts.set(file.path, surveyed)
  })
  for (const { path } of python) if (isExcluded(path, lint)) unlinted.set(path, "the repository's linter leaves it out")
  const docstrings = foldDocstringFacts(
    mapOf(facts, ({ docstrings: one }) => one),
    (path) => lint.rulesFor(path).style.docstringStyle,
  )
  const linted = [...facts].filter(([path]) => input.isWorkedOn(path) && !isExcluded(path, lint))
  const rules = repositoryRules(facts, { lint, docstrings })
  return {
    rules,
    faults: new Map(
      linted.map(([path, { faults }]) => [path, keptInPlace(faults, rules.files[path]?.keptNames ?? [])]),
    ),
    unlinted,
    isTestData: foldTestData(mapOf(facts, ({ uses }) => uses)),
    docstrings,
    notices: [...lint.notices, ...docstrings.notices],
  }
}

/** With the faults whose fix would remove a name that other files depend on marked as such. */
function keptInPlace(faults: readonly LintFault[], keptNames: PathRules['keptNames']): LintFault[] {
  return faults.map((fault) =>
    isKept(fault.removes, keptNames)
      ? { ...fault, isFixable: false, mustStay: `other files use ${fault.removes ?? ''} from here` }
      : fault,
  )
}

async function readConfiguration({ files, read }: SurveyInput, deps: SurveyDeps): Promise<RepositoryLint> {
  const configs = files.filter(({ path, size }) => isLintConfig(path) && size <= maxFileBytes)
  const texts = await mapBounded(configs, atOnce, async ({ path, hash }): Promise<ConfigFile> => {
    return { path, text: Buffer.from(await read(hash)).toString() }
  })
  return readRepositoryLint({ paths: files.map(({ path }) => path), files: texts }, deps.linter)
}

type Looking = { input: SurveyInput; lint: RepositoryLint; deps: SurveyDeps }

async function surveyFile(
  file: SourceFile,
  { input, lint, deps }: Looking,
): Promise<SurveyedFile | { unreadable: string }> {
  const { path, hash } = file
  const isLinted = input.isWorkedOn(path) && !isExcluded(path, lint) && !isStub(path)
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await input.read(hash))
    return await deps.surveys.survey({ path, text, rules: isLinted ? lint.rulesFor(path).lint : null })
  } catch (error) {
    if (error instanceof AppError) throw error
    if (error instanceof TypeError) return { unreadable: 'it is not UTF-8' }
    throw error
  }
}

function isExcluded(path: string, lint: RepositoryLint): boolean {
  return lint.rulesFor(path).lint.isExcluded
}

/** The rules of every file, with equal ones stored once. */
function repositoryRules(
  facts: ReadonlyMap<string, { uses: ModuleUses }>,
  { lint, docstrings }: { lint: RepositoryLint; docstrings: DocstringSurvey },
): RepositoryRules {
  const keptNames = foldKeptNames(mapOf(facts, ({ uses }) => uses))
  const shared = new Map<string, { at: number; rules: Omit<PathRules, 'keptNames'> }>()
  const files: RepositoryRules['files'] = {}
  for (const path of [...facts.keys()].toSorted()) {
    const rules = rulesOf(path, lint, docstrings)
    const key = JSON.stringify(rules)
    const { at } = shared.get(key) ?? { at: shared.size }
    shared.set(key, { at, rules })
    files[path] = { rules: at, keptNames: keptNames(path), agentRanges: [] }
  }
  return { v: 1, shared: [...shared.values()].map(({ rules }) => rules), files }
}

function rulesOf(path: string, lint: RepositoryLint, docstrings: DocstringSurvey): Omit<PathRules, 'keptNames'> {
  const { lint: rules, style } = lint.rulesFor(path)
  const found = docstrings.styleOf(path)
  return {
    lint: rules,
    text: {
      ...found,
      lineLength: style.lineLength ?? defaultTextStyle.lineLength,
      ...(style.docLength === undefined ? {} : { docLength: style.docLength }),
      ...(style.docstringQuotes === undefined ? {} : { docstringQuotes: style.docstringQuotes }),
      ...(style.indent === undefined ? {} : { indent: style.indent }),
    },
  }
}

function mapOf<From, To>(map: ReadonlyMap<string, From>, of: (value: From) => To): ReadonlyMap<string, To> {
  return new Map([...map].map(([key, value]) => [key, of(value)]))
}
