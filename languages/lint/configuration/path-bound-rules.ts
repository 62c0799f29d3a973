import { isSelected, type LintRules } from '#domain/path-rules.ts'
import { folderOf } from '#domain/repo-path.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { nameOf, stringsOf, type Table, tableAt, within } from './config-tree.ts'
import { switchesOn } from './rule-selection.ts'
import type { PythonLinter } from '../python-linter.ts'
import { ruffIncludeTest } from './file-patterns.ts'
import type { RuffLayer } from './ruff-config.ts'

// The Ruff we run gets a text, without a path or a file system. This file makes up for what rules would read there: which
// modules are the repository's own, and which rules must be left out or ignored.

export type ModuleTree = ReturnType<typeof moduleTree>

const keywords = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global ' +
    'if import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
)

const isModuleName = (name: string) => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && !keywords.has(name)

/** The Python modules of a snapshot, as an import finds them. */
export function moduleTree(paths: readonly string[]) {
  const modules = new Map<string, Set<string>>()
  const packages = new Set<string>()
  const add = (folder: string, name: string) => {
    const names = getOrMake(modules, folder, () => new Set())
    const isNew = !names.has(name)
    return isNew && names.add(name)
  }
  for (const path of paths.filter((one) => /\.pyi?$/.test(one))) {
    if (nameOf(path) === '__init__.py') packages.add(folderOf(path))
    add(folderOf(path), nameOf(path).replace(/\.pyi?$/, ''))
    for (let folder = folderOf(path); folder !== ''; folder = folderOf(folder)) {
      if (!add(folderOf(folder), nameOf(folder))) break
    }
  }
  const roots = new Map<string, string | undefined>()
  const packageOf = (folder: string): string | undefined => {
    if (folder === '' || !packages.has(folder)) return undefined
    if (!roots.has(folder)) roots.set(folder, packageOf(folderOf(folder)) ?? folder)
    return roots.get(folder)
  }
  return {
    /** Names that can be imported when `folder` is on Python's path. */
    modulesIn: (folder: string) => [...(modules.get(folder) ?? [])].filter(isModuleName),
    /** The folder of the outermost package that `folder` belongs to. */
    packageOf,
    folders: [...modules.keys()],
    packageNames: [...new Set([...packages].map((one) => nameOf(packageOf(one) ?? one)))].filter(isModuleName),
  }
}

/** Is true when rules are on that depend on where an import comes from: the order of imports, and imports only for types. */
export function sortsImports(lint: Table): boolean {
  const selectors = [...stringsOf(lint['select']), ...stringsOf(lint['extend-select'])]
  const isChosen = (code: string) =>
    isSelected(code, selectors) || selectors.some((one) => isSelected(one, ['I', 'TC']))
  return lint['select'] === undefined || ['I001', 'TC001'].some(isChosen)
}

/** The modules that Ruff would find as first-party in the folders of `src` (else the project's own and its `src`). */
export function modulesOfSources(modules: ModuleTree, chain: readonly RuffLayer[]): readonly string[] {
  const layer = chain.findLast(({ top }) => top['src'] !== undefined)
  const project = chain.at(-1)?.folder ?? ''
  const patterns = layer === undefined ? [] : stringsOf(layer.top['src'])
  const tests = patterns.map((pattern) =>
    /^(?:\.\/?)?$/.test(pattern) ? undefined : ruffIncludeTest(pattern, layer?.folder ?? ''),
  )
  const isSource = (folder: string) =>
    tests.some((test) => (test === undefined ? folder === layer?.folder : test(folder)))
  const folders = layer === undefined ? [project, within(project, 'src')] : modules.folders.filter(isSource)
  return [...new Set(folders.flatMap((folder) => modules.modulesIn(folder)))]
}

/** Names that the configuration itself assigns to a section: they must not be made first-party. */
export function namesWithSection(isort: Table | undefined): string[] {
  const keys = ['known-first-party', 'known-third-party', 'known-local-folder', 'extra-standard-library']
  const sections = Object.values(tableAt(isort, 'sections') ?? {})
  return [...keys.flatMap((key) => stringsOf(isort?.[key])), ...sections.flatMap(stringsOf)]
}

/**
 * Returns those of `names` that are modules of Python's standard library. Ruff prefers these to the repository's
 * modules, but not to modules that are configured as first-party, so they must not be added there. Ruff's own import
 * order tells: a standard and a third-party import with a blank line between them are in order, two third-party ones
 * are not.
 */
export async function standardModules(
  names: readonly string[],
  target: string | undefined,
  linter: Pick<PythonLinter, 'lint'>,
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set()
  const block = (name: string) => `import ${name}\n\nimport zzz_a_foreign_module\n\nx = 0\n`
  const rules: LintRules = {
    source: 'default',
    options: { ...(target && { 'target-version': target }), lint: { select: ['I001'] } },
    ignored: [],
    unfixable: [],
    isExcluded: false,
  }
  const { diagnostics } = await linter.lint(names.map(block).join(''), rules)
  const unsorted = new Set(diagnostics.map(({ line }) => Math.floor((line - 1) / 5)))
  return new Set(names.filter((_, index) => !unsorted.has(index)))
}

/** Rules about a file's path: without one they are not reported, or reported for a wrong path. */
const lostRules = ['A005', 'D104', 'EXE001', 'EXE002', 'INP001', 'N999', 'PLW0406', 'RUF067']

/**
 * Rules that report too much without a path, since relative imports cannot be resolved: DOC502 misses exceptions,
 * PLC2701 takes the package's own private names for those of others. RUF100 calls noqa comments for all these unused.
 */
export const blindRules: readonly string[] = ['DOC502', 'PLC2701', 'RUF100']

export function lostRulesOf(lint: Table): string[] {
  return [...lostRules, ...blindRules].filter((code) => switchesOn(lint, code))
}

const isPrivate = (name: string) => name.startsWith('_') && !/^__.*__$/.test(name)

export type SilentRules = { ignored: readonly string[]; unfixable: readonly string[] }

/** The rules that Ruff, with the path, would not report in a file of this folder, or would not fix as safe. */
export function silentByPath(folder: string, modules: Pick<ModuleTree, 'packageOf'>, isPreview: boolean) {
  const root = modules.packageOf(folder)
  const inPackage = root === undefined ? [] : folder.slice(folderOf(root).length).split('/')
  const isPrivateFolder = inPackage.some(isPrivate)
  return (path: string): SilentRules => {
    const name = nameOf(path)
    const ofDocstrings = isPrivateFolder || isPrivate(name.replace(/\.pyi?$/, '')) ? ['D1'] : []
    if (name !== '__init__.py') return { ignored: ofDocstrings, unfixable: [] }
    // A package's own docstring is D104, an undefined name in `__all__` may be a submodule, `x as x` is an export.
    const ofPackage = ['D100', 'PLC0414', ...(isPreview ? [] : ['F822'])]
    return { ignored: [...ofDocstrings, ...ofPackage], unfixable: ['F401'] }
  }
}
