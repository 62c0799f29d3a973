import { isGo, type PathRules } from '#domain/path-rules.ts'
import { keptOf } from '#languages/python/lint/fixable-faults.ts'
import {
  isLintConfig,
  readRepositoryLint,
  type ConfigFile,
  type RepositoryLint,
  type RulesLinter,
  textStyle,
} from '#languages/lint/repository-lint.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import type { RepositoryRules } from '#store/objects/repository-rules.ts'
import { foldDocstringFacts, type DocstringSurvey } from '#languages/python/docstring-survey.ts'
import { foldKeptNames } from '#languages/python/kept-names.ts'
import type { ModuleUses } from '#languages/python/module-uses.ts'
import { ownModulesOf } from '#languages/python/own-modules.ts'
import type { ModuleTypes } from '#languages/python/module-types.ts'
import { publicModules } from '#languages/python/public-modules.ts'
import { foldTestData } from '#languages/python/test-data.ts'
import type { Linter } from '#languages/lint/linter.ts'
import { languageOf } from '#languages/syntax/grammars.ts'
import type { SourceFile } from '#stages/discover/choose-files.ts'
import { bufferOf } from '#stages/discover/source-text.ts'
import type { LintFault, SurveyPool } from './survey-pool.ts'
import { faultsOfPython, type PythonInput, type SurveyedFile, surveyFile } from './survey-python-file.ts'
import {
  isLintedScript,
  isOtherLinted,
  isOtherTestData,
  maxFileBytes,
  surveyOtherLanguages,
} from './survey-other-languages.ts'

export type SurveyInput = PythonInput & {
  files: readonly SourceFile[]
  /** Is true when agents may work on the file: scripts and Go among these are linted, for their rules are only known so. */
  isWorkedOn(path: string): boolean
}

/** Lints more Python files, those for whose faults an agent asks, and returns what is known by then. */
export type SurveyMore = (paths: ReadonlySet<string>) => Promise<Survey>

export type SurveyDeps = {
  surveys: SurveyPool
  linter: RulesLinter & Pick<Linter, 'lint' | 'scripts'> & { go: Pick<Linter['go'], 'lack'> }
}

/** Holds what a repository says about its files, and where in them there is work. */
export type Survey = {
  rules: RepositoryRules
  /** Holds faults by path, in the order of the file. Every file that is linted is either here or in `unlinted`. */
  faults: ReadonlyMap<string, readonly LintFault[]>
  unlinted: ReadonlyMap<string, string>
  /** Files in another encoding than UTF-8: an edit could not be written in it, so no agent works on them. */
  notUtf8: ReadonlySet<string>
  /** Is true when tests read the file as text: its faults are often the thing under test. */
  isTestData(path: string): boolean
  docstrings: DocstringSurvey
  /** What is needed of each Python file to read signatures, where the run looks for types. */
  types: ReadonlyMap<string, ModuleTypes | undefined>
  files: readonly SourceFile[]
  /** Tells users what of the configuration cannot be honoured, and what is left alone throughout the repository. */
  notices: readonly string[]
}

const atOnce = 4
/** Configurations with entry points, documents, notebooks, Cython and scripts may name modules of the repository. */
const namesModules =
  /\.(?:toml|cfg|ini|conf|rst|md|txt|ya?ml|pyx|pxd|pxi|ipynb|robot|sh|in)$|(?:^|\/)(?:Procfile|Makefile|Dockerfile|justfile)$/i

/**
 * Reads the repository's lint configuration, then what every Python file says about docstrings and uses of other modules, in threads; and the faults of
 * JavaScript, TypeScript and Go. Documents, configurations and Python files that cannot be parsed are searched for the names they use. Notices name the
 * files that could not be read. The faults of Python are found by the function that it returns.
 */
export async function surveyRepository(input: SurveyInput, deps: SurveyDeps, signal: AbortSignal): Promise<SurveyMore> {
  const { files } = input
  const lint = await readConfiguration(input, deps)
  const ownModules = new Set(ownModulesOf(files.map(({ path }) => path)))
  const { facts, named, unreadable, notUtf8, notices } = await readFiles(input, ownModules, deps, signal)
  const others = await surveyOtherLanguages(input, { ...deps, rulesFor: lint.rulesFor }, signal)
  signal.throwIfAborted()
  const docstrings = foldDocstrings(facts, lint)
  const isPythonTestData = foldTestData(mapOf(facts, ({ uses }) => uses))
  const used = foldKeptNames(new Map([...named, ...mapOf(facts, ({ uses }) => uses)]))
  const common = {
    isTestData: (path: string) => (isOtherLinted(path) ? isOtherTestData(path) : isPythonTestData(path)),
    notUtf8: new Set([...notUtf8, ...others.notUtf8]),
    docstrings,
    types: mapOf(facts, ({ types }) => types),
    files,
    notices: [...lint.notices, ...docstrings.notices, ...notices.toSorted()],
  }
  const found = new Map<string, readonly LintFault[]>()
  const unlinted = new Map(unreadable)
  return async (paths) => {
    const wanted = files.filter((file) => isPython(file) && paths.has(file.path) && !found.has(file.path))
    await mapBounded(wanted, deps.surveys.threads * atOnce, async (file) => {
      signal.throwIfAborted()
      const rules = lint.rulesFor(file.path).lint
      const faults = unlinted.get(file.path) ?? (await faultsOfPython(file, { input, rules, ownModules, deps }))
      if (typeof faults === 'string') unlinted.set(file.path, faults)
      else found.set(file.path, faults)
    })
    const kept = keptInModules(facts, { found, used, isPublic: lint.isPublic })
    const ofPython = [...found].toSorted(byPath)
    return {
      ...common,
      rules: {
        ...repositoryRules([...facts.keys(), ...others.faults.keys()], lint, { docstrings, kept }),
        ...sourcesOfRules(lint, files),
        ownModules: [...ownModules],
      },
      faults: new Map([
        ...ofPython.map(([path, faults]) => [path, keptInPlace(faults, kept.get(path) ?? nothingKept)] as const),
        ...others.faults,
      ]),
      unlinted: new Map([...unlinted, ...others.unlinted]),
    }
  }
}

/** Holds by path what the files say; `unreadable` has the reason why a Python file says nothing, and `notices` tell users which files were not read. */
type FilesRead = {
  facts: Map<string, SurveyedFile>
  named: Map<string, ModuleUses>
  unreadable: Map<string, string>
  notUtf8: Set<string>
  notices: string[]
}

async function readFiles(
  input: SurveyInput,
  ownModules: ReadonlySet<string>,
  deps: SurveyDeps,
  signal: AbortSignal,
): Promise<FilesRead> {
  const ownNames = new Set([...ownModules].map((name) => name.replace(/^\./, '')))
  const read: FilesRead = { facts: new Map(), named: new Map(), unreadable: new Map(), notUtf8: new Set(), notices: [] }
  await mapBounded(input.files.filter(isLookedAt), deps.surveys.threads * atOnce, async (file) => {
    signal.throwIfAborted()
    const { path, hash } = file
    const looked = isPython(file) ? await surveyFile(file, input, deps) : undefined
    if (looked?.isUtf8 === false) read.notUtf8.add(path)
    if (looked !== undefined && 'surveyed' in looked) return void read.facts.set(path, looked.surveyed)
    if (looked !== undefined) read.unreadable.set(path, looked.unread)
    const text = looked === undefined ? bufferOf(await input.read(hash)).toString('latin1') : looked.namingText
    const uses = text === undefined ? undefined : await deps.surveys.usesIn(text)
    const isNamesRead = uses !== undefined && !('unreadable' in uses)
    if (isNamesRead) read.named.set(path, usesOfOwn(uses, ownNames))
    const why = looked?.unread ?? (isNamesRead ? undefined : uses?.unreadable)
    if (why !== undefined)
      read.notices.push(`${path} is not read (${why}): what it uses of other files is not all known`)
  })
  return read
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

type Keeping = {
  found: ReadonlyMap<string, readonly LintFault[]>
  used: ReturnType<typeof foldKeptNames>
  isPublic(path: string): boolean
}

function keptInModules(
  facts: ReadonlyMap<string, SurveyedFile>,
  { found, used, isPublic }: Keeping,
): ReadonlyMap<string, KeptNames> {
  const offered = (faults: readonly LintFault[]) =>
    faults.flatMap(({ offers = [], mustStay }) => (mustStay === undefined ? offers : []))
  return new Map(
    [...facts.keys()].map((path) => [
      path,
      { used: used(path), offered: isPublic(path) ? offered(found.get(path) ?? []) : [] },
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
    return { path, text: bufferOf(await read(hash)).toString() }
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
