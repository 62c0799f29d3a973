import { stringify } from 'smol-toml'
import { defaultLintRules, type LintRules } from '#domain/path-rules.ts'
import { folderOf } from '#domain/repo-path.ts'
import { byCode } from '../../python/lint/ruff-tree.ts'
import { acceptedOptions, type RefusalOf } from './accepted-options.ts'
import { type ConfigTree, nearest, type Table, within } from './config-tree.ts'
import { type Flake8Config, flake8In, flake8Lacks, isInPreview, pycodestyleIn } from './flake8-config.ts'
import { newerBuiltins, requiredPythonOfProject } from './python-target.ts'

/** The rules of files without a configuration of Ruff, as configurations of Ruff. */
export type Flake8Rules = {
  isConfigured: boolean
  files: Readonly<Record<string, string>>
  preview: Readonly<Record<string, string>> | undefined
  /** The configuration of a folder; any of flake8 above it counts before one of pycodestyle. */
  configOf(folder: string): Flake8Config | undefined
  rulesOf(path: string): Pick<LintRules, 'source' | 'ignored' | 'isExcluded'>
}

type Sources = { tree: ConfigTree; refusalOf: RefusalOf; notice(words: string): void }

/** `folders` are those of Python files without a configuration of Ruff, and the folders above that have none either. */
export async function readFlake8Rules(folders: readonly string[], sources: Sources): Promise<Flake8Rules> {
  const { tree } = sources
  const flake8 = nearest((folder) => flake8In(tree, folder))
  const pycodestyle = nearest((folder) => pycodestyleIn(tree, folder))
  const configOf = (folder: string) => flake8(folder) ?? pycodestyle(folder)
  const options = new Map<Flake8Config | undefined, Flake8Options>([[undefined, withoutConfiguration]])
  for (const config of new Set(folders.flatMap((folder) => configOf(folder) ?? []))) {
    options.set(config, await acceptedFlake8(config, sources))
  }
  const targetOf = nearest((folder) => requiredPythonOfProject(tree, folder))
  const files: Record<string, string> = {}
  const preview: Record<string, string> = {}
  for (const folder of folders) {
    const config = configOf(folder)
    const isOwn = folder === '' || config?.folder === folder || requiredPythonOfProject(tree, folder) !== undefined
    const own = options.get(config)
    if (!isOwn || own === undefined) continue
    const target = targetOf(folder)
    const laid = (table: Table) => stringify({ ...asFlake8, ...(target && { 'target-version': target }), ...table })
    files[within(folder, 'ruff.toml')] = laid(own.main)
    if (own.preview !== undefined) preview[within(folder, 'ruff.toml')] = laid(own.preview)
  }
  const hasPreview = Object.keys(preview).length > 0
  return {
    isConfigured: options.size > 1,
    files,
    preview: hasPreview ? { 'ruff.toml': stringify({ lint: { select: [] } }), ...preview } : undefined,
    configOf,
    rulesOf(path) {
      const config = configOf(folderOf(path))
      if (config === undefined) return { source: defaultLintRules.source, ignored: [], isExcluded: false }
      const isOut = isExcluded(folderOf(path), config) || !config.isIncluded(path) || config.isExcluded(path)
      return { source: config.source, ignored: [...config.offIn(path)], isExcluded: isOut }
    },
  }
}

/** Ruff leaves files out by itself that flake8 does not. */
const asFlake8 = { exclude: [], ...byCode }

/** `preview` holds the options of a second pass: preview changes other rules, so only those are on that exist in it alone. */
type Flake8Options = { main: Table; preview: Table | undefined }

const withoutConfiguration: Flake8Options = {
  main: { builtins: newerBuiltins, ...defaultLintRules.options },
  preview: undefined,
}

async function acceptedFlake8(config: Flake8Config, { refusalOf, notice }: Sources): Promise<Flake8Options> {
  const { select, ignore } = config.rules
  const stable = select.filter((code) => !isInPreview(code))
  const asked = { ...config.options, lint: { ...config.lint, select: stable, ignore } }
  const { options: main, refused } = await acceptedOptions(asked, refusalOf)
  // An ignored rule that Ruff does not know is no loss.
  const missed = refused.filter(({ key }) => key !== 'lint.ignore')
  for (const { key, value, why } of missed) notice(`${config.source}: ${value ?? key} is left out: ${why}`)
  for (const words of flake8Lacks(config)) notice(words)
  const inPreview = select.filter(isInPreview)
  const preview = { ...config.options, preview: true, lint: { select: inPreview } }
  return { main, preview: inPreview.length === 0 ? undefined : preview }
}

/** Is true when the folder, or a parent of it below the configuration's own folder, is excluded. */
function isExcluded(folder: string, config: Flake8Config): boolean {
  for (let inner = folder; inner !== config.folder && inner !== ''; inner = folderOf(inner)) {
    if (config.isExcluded(inner)) return true
  }
  return false
}
