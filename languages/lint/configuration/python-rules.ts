import { defaultLintRules, type LintRules, type RuffTree } from '#domain/path-rules.ts'
import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { isStub } from '../../python/python-file.ts'
import type { PythonLinter } from '../../python/lint/python-linter.ts'
import type { RuffSettings } from '../../python/lint/ask-ruff.ts'
import { governingFolder } from '../../python/lint/ruff-tree.ts'
import { acceptedOptions } from './accepted-options.ts'
import { type ConfigTree, nearest, within } from './config-tree.ts'
import type { Flake8Config } from './flake8-config.ts'
import { type Flake8Rules, readFlake8Rules } from './flake8-rules.ts'
import { laidConfig, laidProject, ruffChain, type RuffConfig, ruffConfigIn, sourceOf } from './ruff-config.ts'

export type RulesLinter = Pick<PythonLinter, 'trees' | 'lack'>

/** Holds what governs the files of a folder. `chain` has the configurations of Ruff and is empty where there is none. */
export type Governing = { chain: readonly RuffConfig[]; flake8: Flake8Config | undefined; settings: RuffSettings }

type PythonRules = {
  rulesOf(path: string): LintRules
  /** Has the key by which rules name it. */
  tree: (RuffTree & { key: string }) | undefined
  /** Is undefined where Python is not linted. */
  governing(folder: string): Governing | undefined
}

type Sources = { paths: readonly string[]; tree: ConfigTree; linter: RulesLinter; notice(words: string): void }

/**
 * Reads the rules of Python files: by the nearest configuration of Ruff, which Ruff itself reads in a tree that has nothing but such files; else
 * of flake8 or pycodestyle, in Ruff's terms; else a small default.
 */
export async function readPythonRules(sources: Sources): Promise<PythonRules> {
  const { paths, tree, linter, notice } = sources
  const modules = paths.filter((path) => /\.pyi?$/.test(path))
  const unread: PythonRules = {
    rulesOf: (path) => ({ ...defaultLintRules, path }),
    tree: undefined,
    governing: () => undefined,
  }
  if (modules.length === 0) return unread
  if (linter.lack !== undefined) {
    notice(`Python is not linted: ${linter.lack}`)
    return unread
  }
  const folders = [...new Set(modules.map(folderOf))]
  const all = [...new Set(folders.flatMap(foldersUp))]
  const pathOf = nearest((folder) => ruffConfigIn(tree, folder))
  const chains = new Map(
    [...new Set(all.flatMap((folder) => pathOf(folder) ?? []))].map((path) => [path, ruffChain(tree, path, notice)]),
  )
  const withoutRuff = all.filter((folder) => pathOf(folder) === undefined)
  const flake8 = await readFlake8Rules(withoutRuff, { tree, refusalOf: linter.trees.refusalOf, notice })
  if (chains.size === 0 && !flake8.isConfigured)
    notice('there is no configuration of Ruff, flake8 or pycodestyle: only F, E9, W605, E713 and E714 are checked')
  const files = { ...projectFiles(all, tree), ...flake8.files }
  for (const config of [...chains.values()].flat()) files[config.path] = laidConfig(config, tree)
  const laid: RuffTree = { files, ...(flake8.preview && { preview: flake8.preview }), modules }
  const settings = await settingsOf(laid, { chains, ...sources })
  return rulesIn(settings, { pathOf, chains, flake8, linter })
}

function projectFiles(folders: readonly string[], tree: ConfigTree): Record<string, string> {
  const paths = folders.map((folder) => within(folder, 'pyproject.toml'))
  return Object.fromEntries(
    paths.flatMap((path) => {
      const text = laidProject(tree, path)
      return text === undefined ? [] : [[path, text]]
    }),
  )
}

type Chains = ReadonlyMap<string, readonly RuffConfig[]>

/** Reads the settings of the folders that have a configuration. What Ruff refuses of one is left out of the tree, with a notice. */
async function settingsOf(
  laid: RuffTree,
  { chains, tree, linter, notice }: Sources & { chains: Chains },
): Promise<{ tree: RuffTree; of: ReadonlyMap<string, RuffSettings> }> {
  const governing = new Set(laid.modules.map((path) => governingFolder(laid.files, folderOf(path))))
  const of = new Map<string, RuffSettings>()
  const files = { ...laid.files }
  for (const folder of governing) {
    const settings = await linter.trees.settingsIn(laid, folder)
    if (!('refusal' in settings)) {
      of.set(folder, settings)
      continue
    }
    const chain = [...chains.values()].find((configs) => configs.at(-1)?.folder === folder) ?? []
    for (const config of chain) {
      const { extend, ...own } = config.table
      const { options, refused } = await acceptedOptions(own, linter.trees.refusalOf)
      for (const { key, value, why } of refused)
        notice(`${sourceOf(config.path)}: ${value === undefined ? key : `${value} in ${key}`} is left out: ${why}`)
      const table = { ...options, ...(extend !== undefined && { extend }) }
      files[config.path] = laidConfig({ path: config.path, table }, tree)
    }
  }
  const repaired = of.size === governing.size ? laid : { ...laid, files }
  for (const folder of governing) {
    const settings = of.get(folder) ?? (await linter.trees.settingsIn(repaired, folder))
    if ('refusal' in settings) notice(`the files of ${folder || 'the repository'} are not linted: ${settings.refusal}`)
    else of.set(folder, settings)
  }
  return { tree: repaired, of }
}

type Reading = {
  pathOf(folder: string): string | undefined
  chains: Chains
  flake8: Flake8Rules
  linter: RulesLinter
}

async function rulesIn(
  { tree, of }: { tree: RuffTree; of: ReadonlyMap<string, RuffSettings> },
  { pathOf, chains, flake8, linter }: Reading,
): Promise<PythonRules> {
  const key = linter.trees.add(tree)
  const linted = await linter.trees.lintedIn(tree)
  const settingsIn = nearest((folder) => of.get(folder))
  return {
    tree: { ...tree, key },
    rulesOf(path) {
      const folder = folderOf(path)
      const config = pathOf(folder)
      const { source, isExcluded, ignored } =
        config === undefined
          ? flake8.rulesOf(path)
          : { source: sourceOf(config), isExcluded: !linted.has(path), ignored: [] }
      const isOut = isExcluded || isStub(path) || settingsIn(folder) === undefined
      return { source, options: {}, tree: key, path, ignored: [...ignored], isExcluded: isOut }
    },
    governing(folder) {
      const settings = settingsIn(folder)
      const config = pathOf(folder)
      const chain = (config === undefined ? undefined : chains.get(config)) ?? []
      return settings && { chain, flake8: config === undefined ? flake8.configOf(folder) : undefined, settings }
    },
  }
}
