import { isUtf8 } from 'node:buffer'
import { isGo, type LintRules, type PathRules } from '#domain/path-rules.ts'
import { hasCode } from '#domain/error.ts'
import { keptOf } from '#languages/python/lint/fixable-faults.ts'
import type { Diagnostic } from '#languages/lint/lint-report.ts'
import {
  isLintConfig,
  readRepositoryLint,
  type ConfigFile,
  type RepositoryLint,
  type RulesLinter,
  textStyle,
} from '#languages/lint/repository-lint.ts'
import { mapBounded } from '#store/objects/map-bounded.ts'
import type { RepositoryRules } from '#store/objects/repository-rules.ts'
import { foldDocstringFacts, type DocstringSurvey } from '#languages/python/docstring-survey.ts'
import { foldKeptNames } from '#languages/python/kept-names.ts'
import type { ModuleUses } from '#languages/python/module-uses.ts'
import { ownModulesIn, ownModulesOf } from '#languages/python/own-modules.ts'
import { publicModules } from '#languages/python/public-modules.ts'
import { foldTestData } from '#languages/python/test-data.ts'
import { isStub } from '#languages/python/python-file.ts'
import type { Linter } from '#languages/lint/linter.ts'
import { languageOf } from '#languages/syntax/grammars.ts'
import type { SourceFile } from '#stages/discover/choose-files.ts'
import type { LintFault, SurveyedFile, SurveyPool } from './survey-pool.ts'
import {
  isLintedScript,
  isOtherLinted,
  isOtherTestData,
  maxFileBytes,
  surveyOtherLanguages,
  tooLarge,
} from './survey-other-languages.ts'

export type SurveyInput = {
  files: readonly SourceFile[]
  /** Is true when agents may work on the file: only these files are linted. */
  isWorkedOn(path: string): boolean
  read(hash: string): Promise<Uint8Array>
  /** Is true when an agent looks for definitions by the types of their parameters. */
  wantsTypes?: boolean
}

export type SurveyDeps = {
  surveys: SurveyPool
  linter: RulesLinter & Pick<Linter, 'lint' | 'scripts'> & { go: Pick<Linter['go'], 'lack'> }
}

/** Holds what a repository says about its files, and where in them there is work. */
export type Survey = {
  rules: RepositoryRules
  /** Holds faults by path, in the order of the file. Every file that agents may work on is either here or in `unlinted`. */
  faults: ReadonlyMap<string, readonly LintFault[]>
  unlinted: ReadonlyMap<string, string>
  /** Files in another encoding than UTF-8: an edit could not be written in it, so no agent works on them. */
  notUtf8: ReadonlySet<string>
  /** Is true when tests read the file as text: its faults are often the thing under test. */
  isTestData(path: string): boolean
  docstrings: DocstringSurvey
  /** What is needed of each Python file to read signatures, where the run looks for types. */
  types: ReadonlyMap<string, SurveyedFile['types']>
  files: readonly SourceFile[]
  /** Tells users what of the configuration cannot be honoured, and what is left alone throughout the repository. */
  notices: readonly string[]
}

const atOnce = 4
/** Configurations with entry points, documents, notebooks, Cython and scripts may name modules of the repository. */
const namesModules =
  /\.(?:toml|cfg|ini|conf|rst|md|txt|ya?ml|pyx|pxd|pxi|ipynb|robot|sh|in)$|(?:^|\/)(?:Procfile|Makefile|Dockerfile|justfile)$/i

/**
 * Reads the repository's lint configuration, then every Python file in threads: its faults under the repository's own rules, its docstrings, and what it
 * uses of other modules; and the faults of JavaScript, TypeScript and Go. Documents, configurations and Python files that cannot be parsed are searched
 * for the names they use. Notices name the files that could not be read.
 */
export async function surveyRepository(input: SurveyInput, deps: SurveyDeps, signal: AbortSignal): Promise<Survey> {
  const lint = await readConfiguration(input, deps)
  const ownModules = new Set(ownModulesOf(input.files.map(({ path }) => path)))
  const ownNames = new Set([...ownModules].map((name) => name.replace(/^\./, '')))
  const facts = new Map<string, SurveyedFile>()
  const unlinted = new Map<string, string>()
  const notUtf8 = new Set<string>()
  const named = new Map<string, ModuleUses>()
  const unread: string[] = []
  await mapBounded(input.files.filter(isLookedAt), deps.surveys.threads * atOnce, async (file) => {
    signal.throwIfAborted()
    const { surveyed, namingText, notLinted } = isPython(file)
      ? await surveyFile(file, { input, lint, ownModules, notUtf8, deps })
      : { namingText: Buffer.from(await input.read(file.hash)).toString('latin1') }
    if (notLinted !== undefined) unlinted.set(file.path, notLinted)
    if (surveyed !== undefined) facts.set(file.path, surveyed)
    const uses = namingText === undefined ? undefined : await deps.surveys.usesIn(namingText)
    const isNamesRead = uses !== undefined && !('unreadable' in uses)
    if (isNamesRead) named.set(file.path, usesOfOwn(uses, ownNames))
    const why = notLinted ?? (isNamesRead ? undefined : uses?.unreadable)
    if (surveyed === undefined && why !== undefined) {
      unread.push(`${file.path} is not read (${why}): what it uses of other files is not all known`)
    }
  })
  const others = await surveyOtherLanguages(input, { ...deps, rulesFor: lint.rulesFor }, signal)
  signal.throwIfAborted()
  const docstrings = foldDocstrings(facts, lint)
  const linted = [...facts].toSorted(byPath).filter(([path]) => input.isWorkedOn(path) && !unlinted.has(path))
  const isPythonTestData = foldTestData(mapOf(facts, ({ uses }) => uses))
  const kept = keptInModules(facts, { named, isPublic: lint.isPublic })
  const rules = {
    ...repositoryRules([...facts.keys(), ...others.faults.keys()], lint, { docstrings, kept }),
    ...sourcesOfRules(lint, input.files),
    ownModules: [...ownModules],
  }
  return {
    rules,
    faults: new Map([
      ...linted.map(([path, { faults }]) => [path, keptInPlace(faults, kept.get(path) ?? nothingKept)] as const),
      ...others.faults,
    ]),
    unlinted: new Map([...unlinted, ...others.unlinted]),
    notUtf8: new Set([...notUtf8, ...others.notUtf8]),
    isTestData: (path) => (isOtherLinted(path) ? isOtherTestData(path) : isPythonTestData(path)),
    docstrings,
    types: mapOf(facts, ({ types }) => types),
    files: input.files,
    notices: [...lint.notices, ...docstrings.notices, ...unread.toSorted()],
  }
}

function sourcesOfRules({ ruffTree }: RepositoryLint, files: readonly SourceFile[]) {
  const { modules: _, ...tree } = ruffTree ?? { modules: [] }
  const configs = lintConfigs(files).map(({ path, hash }) => ({ path, hash }))
  return { ...('key' in tree && { ruffTree: tree }), configs }
}

function foldDocstrings(facts: ReadonlyMap<string, SurveyedFile>, lint: RepositoryLint) {
  return foldDocstringFacts(new Map([...mapOf(facts, ({ docstrings }) => docstrings)].toSorted(byPath)), (path) => {
    const { style } = lint.rulesFor(path)
    return { style: style.docstringStyle, wantsMethodDocstrings: lint.wantsMethodDocstrings(path) }
  })
}

function byPath([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1
}

/** The names of a module that stay: those that other files of the repository use, and those that its users may import. */
type KeptNames = { used: PathRules['keptNames']; offered: string[] }

const nothingKept: KeptNames = { used: [], offered: [] }

function keptInModules(
  facts: ReadonlyMap<string, SurveyedFile>,
  { named, isPublic }: { named: ReadonlyMap<string, ModuleUses>; isPublic(path: string): boolean },
): ReadonlyMap<string, KeptNames> {
  const used = foldKeptNames(new Map([...named, ...mapOf(facts, ({ uses }) => uses)]))
  const offered = (faults: readonly LintFault[]) =>
    faults.flatMap(({ offers = [], mustStay }) => (mustStay === undefined ? offers : []))
  return new Map(
    [...facts].map(([path, { faults }]) => [
      path,
      { used: used(path), offered: isPublic(path) ? offered(faults) : [] },
    ]),
  )
}

/** Marks the faults whose fix would remove a name that stays. */
function keptInPlace(faults: readonly LintFault[], { used, offered }: KeptNames): LintFault[] {
  return faults.map((fault) => {
    const removes = fault.removes ?? []
    const [usedName, offeredName] = [keptOf(removes, used), keptOf(removes, offered)]
    const stays = { ...fault, isFixable: false }
    if (usedName !== undefined) return { ...stays, mustStay: `other files use ${usedName} from here` }
    if (offeredName === undefined) return fault
    return { ...stays, mustStay: `others may import ${offeredName} from this public module`, withheld: 'offered' }
  })
}

type Configuration = RepositoryLint & { isPublic(path: string): boolean }

async function readConfiguration({ files, read, isWorkedOn }: SurveyInput, deps: SurveyDeps): Promise<Configuration> {
  const texts = await mapBounded(lintConfigs(files), atOnce, async ({ path, hash }): Promise<ConfigFile> => {
    return { path, text: Buffer.from(await read(hash)).toString() }
  })
  const worked = files.flatMap(({ path }) => (isWorkedOn(path) ? path : []))
  const [scripts, hasGo] = [worked.filter(isLintedScript), worked.some(isGo)]
  const paths = files.map(({ path }) => path)
  const lint = await readRepositoryLint({ paths, files: texts, scripts, hasGo }, deps.linter)
  return { ...lint, isPublic: publicModules(paths, texts) }
}

function lintConfigs(files: readonly SourceFile[]): SourceFile[] {
  return files.filter(({ path, size }) => isLintConfig(path) && size <= maxFileBytes)
}

type Looking = {
  input: SurveyInput
  lint: RepositoryLint
  ownModules: ReadonlySet<string>
  notUtf8: Set<string>
  deps: SurveyDeps
}

/** A file that cannot be parsed has `namingText` instead of `surveyed`; `notLinted` is why it has no faults. */
type Looked = { surveyed?: SurveyedFile; namingText?: string; notLinted?: string }

/** Leaves out what is used of other modules than the repository's own, which may be much in a large document. */
function usesOfOwn({ modules, ...uses }: ModuleUses, ownNames: ReadonlySet<string>): ModuleUses {
  return { ...uses, modules: Object.fromEntries(Object.entries(modules).filter(([module]) => ownNames.has(module))) }
}

function isPython({ path }: SourceFile): boolean {
  return languageOf(path) === 'python'
}

function isLookedAt(file: SourceFile): boolean {
  return isPython(file) || (namesModules.test(file.path) && file.size <= maxFileBytes)
}

async function surveyFile(file: SourceFile, { input, lint, ownModules, notUtf8, deps }: Looking): Promise<Looked> {
  const { path, hash, size } = file
  if (size > maxFileBytes) return { notLinted: tooLarge }
  const bytes = Buffer.from(await input.read(hash))
  if (!isUtf8(bytes)) notUtf8.add(path)
  const rules = lint.rulesFor(path).lint
  const notLinted = reasonNotToLint(path, bytes, rules)
  // In other encodings only names matter, which are ASCII: they show what the file uses of others.
  const text = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
  const { wantsTypes = false } = input
  const isLinted = notLinted === undefined && input.isWorkedOn(path)
  const linted = isLinted ? await faultsOf(text, rules, deps) : { diagnostics: [], why: notLinted }
  // A text that Ruff cannot handle may still be parsed for what it uses of other files.
  const question = { path, text, ownModules: ownModulesIn(text, ownModules), wantsTypes }
  const surveyed = await deps.surveys.survey({ ...question, diagnostics: linted.diagnostics })
  const why = linted.why ?? ('unreadable' in surveyed ? surveyed.unreadable : undefined)
  const read = 'unreadable' in surveyed ? { namingText: text } : { surveyed }
  return { ...read, ...(why !== undefined && { notLinted: why }) }
}

type Linted = { diagnostics: readonly Diagnostic[]; why?: string | undefined }

async function faultsOf(text: string, rules: LintRules, { linter }: SurveyDeps): Promise<Linted> {
  if (linter.lack !== undefined) return { diagnostics: [], why: linter.lack }
  try {
    return { diagnostics: (await linter.lint(text, rules)).diagnostics }
  } catch (error) {
    if (!hasCode(error, 'TOOL_006')) throw error
    return { diagnostics: [], why: error.message }
  }
}

function reasonNotToLint(path: string, bytes: Uint8Array, { isExcluded }: LintRules): string | undefined {
  if (isStub(path)) return 'it is a stub'
  if (isExcluded) return "the repository's linter leaves it out"
  return isUtf8(bytes) ? undefined : 'it is not UTF-8'
}

function repositoryRules(
  paths: readonly string[],
  lint: RepositoryLint,
  { docstrings, kept }: { docstrings: DocstringSurvey; kept: ReadonlyMap<string, KeptNames> },
): RepositoryRules {
  const shared = new Map<string, { at: number; rules: Omit<PathRules, 'keptNames'> }>()
  const files: RepositoryRules['files'] = {}
  for (const path of paths.toSorted()) {
    const { lint: own, style } = lint.rulesFor(path)
    const { path: _, ...lintRules } = own
    const rules = { lint: lintRules, text: textStyle(docstrings.styleOf(path), style) }
    const key = JSON.stringify(rules)
    const { at } = shared.get(key) ?? { at: shared.size }
    shared.set(key, { at, rules })
    const { used, offered } = kept.get(path) ?? nothingKept
    const keptNames = used === 'all' ? used : [...new Set([...used, ...offered])]
    files[path] = { rules: at, keptNames, agentRanges: [] }
  }
  return { v: 1, shared: [...shared.values()].map(({ rules }) => rules), files }
}

function mapOf<From, To>(map: ReadonlyMap<string, From>, of: (value: From) => To): ReadonlyMap<string, To> {
  return new Map([...map].map(([key, value]) => [key, of(value)]))
}
