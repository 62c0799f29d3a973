import type { LintRules } from '#domain/path-rules.ts'
import { isSelected } from '#domain/rule-selectors.ts'
import type { PythonLinter } from '../python-linter.ts'
import { folderOf, nameOf, stringsOf, type Table, tableAt, within } from './config-tree.ts'
import { ruffIncludeTest } from './file-patterns.ts'
import { lastWith, type RuffLayer } from './ruff-chain.ts'

/** The Python modules of a snapshot, as an import finds them. */
export type ModuleTree = {
  /** Names that can be imported when `folder` is on the path. */
  modulesIn(folder: string): readonly string[]
  /** The folder of the outermost package that `folder` belongs to. */
  packageOf(folder: string): string | undefined
  folders: readonly string[]
  packageNames: readonly string[]
}

const keywords = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global ' +
    'if import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
)

const isModuleName = (name: string) => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && !keywords.has(name)

export function moduleTree(paths: readonly string[]): ModuleTree {
  const modules = new Map<string, Set<string>>()
  const packages = new Set<string>()
  const add = (folder: string, name: string) => {
    const names = modules.get(folder) ?? new Set()
    modules.set(folder, names)
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
    modulesIn: (folder) => [...(modules.get(folder) ?? [])].filter(isModuleName),
    packageOf,
    folders: [...modules.keys()],
    packageNames: [...new Set([...packages].map((one) => nameOf(packageOf(one) ?? one)))].filter(isModuleName),
  }
}

/** Whether the rules look at where an import comes from: the order of imports, and imports for types alone. */
export function sortsImports(lint: Table): boolean {
  const selectors = [...stringsOf(lint['select']), ...stringsOf(lint['extend-select'])]
  const isChosen = (code: string) =>
    isSelected(code, selectors) || selectors.some((one) => isSelected(one, ['I', 'TC']))
  return lint['select'] === undefined || ['I001', 'TC001'].some(isChosen)
}

/**
 * The modules that Ruff would find first-party in the folders of `src`: the project's own and its `src` unless the
 * configuration names others. The Ruff we run has no file system.
 */
export function modulesOfSources(modules: ModuleTree, chain: readonly RuffLayer[]): readonly string[] {
  const layer = lastWith(chain, ({ top }) => top['src'] !== undefined)
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

/** Names that the configuration itself puts into a section: they are not to be made first-party. */
export function namesWithSection(isort: Table | undefined): string[] {
  const keys = ['known-first-party', 'known-third-party', 'known-local-folder', 'extra-standard-library']
  const sections = Object.values(tableAt(isort, 'sections') ?? {})
  return [...keys.flatMap((key) => stringsOf(isort?.[key])), ...sections.flatMap(stringsOf)]
}

/**
 * Which of `names` belong to Python's library. Ruff holds that before what lies in the repository, but not before what
 * its configuration calls first-party. It is asked: a module of the library and a foreign one are sorted when there is an
 * empty line between them, two foreign ones are not.
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
