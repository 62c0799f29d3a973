import { combinedSelection, selectionKeys } from './rule-selection.ts'
import { type ConfigTree, folderOf, nameOf, stringOf, type Table, tableAt, within } from './config-tree.ts'

/** One configuration of Ruff: its own keys, and the linter's, which may also stand at the top (deprecated). */
export type RuffLayer = { path: string; folder: string; top: Table; lint: Table }

/** Keys at the top that are not the linter's. */
const topKeys = new Set(
  (
    'cache-dir extend required-version output-format output-prefer-rule-codes fix unsafe-fixes fix-only show-fixes ' +
    'exclude extend-exclude extend-include force-exclude include respect-gitignore builtins namespace-packages ' +
    'target-version per-file-target-version src line-length indent-width lint format analyze preview extension'
  ).split(' '),
)

/** Of a folder, the file that Ruff reads: `.ruff.toml`, else `ruff.toml`, else `pyproject.toml` with `[tool.ruff]`. */
export function ruffConfigIn(tree: ConfigTree, folder: string): string | undefined {
  const names = ['.ruff.toml', 'ruff.toml', 'pyproject.toml'].map((name) => within(folder, name))
  return names.find((path) => ruffTable(tree, path) !== undefined)
}

function ruffTable(tree: ConfigTree, path: string): Table | undefined {
  const table = tree.table(path)
  return nameOf(path) === 'pyproject.toml' ? tableAt(table, 'tool', 'ruff') : table
}

/** A configuration and what it extends, itself last. What cannot be followed is said and left out. */
export function ruffChain(tree: ConfigTree, path: string, notice: (words: string) => void): RuffLayer[] {
  const chain: RuffLayer[] = []
  for (let next: string | undefined = path; next !== undefined;) {
    if (chain.some((layer) => layer.path === next)) {
      notice(`${path} extends itself by way of ${next}, which Ruff refuses; each file counts once`)
      break
    }
    const layer = layerOf(tree, next)
    if (layer === undefined) {
      notice(`${path} extends ${next}, which is not there or cannot be read; the rest of it counts`)
      break
    }
    chain.push(layer)
    next = extendedBy(layer, notice)
  }
  return chain.toReversed()
}

function layerOf(tree: ConfigTree, path: string): RuffLayer | undefined {
  const table = nameOf(path) === 'pyproject.toml' && tree.table(path) !== undefined ? {} : undefined
  const options = ruffTable(tree, path) ?? table
  if (options === undefined) return undefined
  const entries = Object.entries(options)
  const top = Object.fromEntries(entries.filter(([key]) => topKeys.has(key)))
  const deprecated = Object.fromEntries(entries.filter(([key]) => !topKeys.has(key)))
  return { path, folder: folderOf(path), top, lint: { ...deprecated, ...tableAt(options, 'lint') } }
}

function extendedBy(layer: RuffLayer, notice: (words: string) => void): string | undefined {
  const extended = stringOf(layer.top['extend'])
  if (extended === undefined) return undefined
  const segments = layer.folder === '' ? [] : layer.folder.split('/')
  const isOutside = /^[/~$]/.test(extended)
  for (const segment of extended.split('/').filter((one) => one !== '' && one !== '.')) {
    if (segment !== '..') segments.push(segment)
    else if (segments.pop() === undefined) {
      segments.length = 0
      notice(`${layer.path} extends ${extended}, which lies outside the repository and is not read`)
      return undefined
    }
  }
  if (!isOutside) return segments.join('/')
  notice(`${layer.path} extends ${extended}, which lies outside the repository and is not read`)
  return undefined
}

/**
 * The tables of a chain as one, later ones before earlier ones: whole values, but the tables of plugins key by key. Rule
 * selections are combined; what names files is not in it, since each pattern belongs to the folder of its own layer.
 */
export function combinedLint(chain: readonly RuffLayer[]): Record<string, unknown> {
  const perFile = ['per-file-ignores', 'extend-per-file-ignores', 'exclude', 'extend-safe-fixes', 'extend-unsafe-fixes']
  const apart = new Set([...selectionKeys, ...perFile])
  const sum: Record<string, unknown> = {}
  for (const { lint } of chain) {
    for (const [key, value] of Object.entries(lint)) {
      if (apart.has(key)) continue
      const [before, own] = [tableAt(sum[key]), tableAt(value)]
      sum[key] = before && own ? { ...before, ...own } : value
    }
  }
  return { ...sum, ...combinedSelection(chain.map(({ lint }) => lint)) }
}

/** The last layer that has the key decides. */
export function lastWith(chain: readonly RuffLayer[], has: (layer: RuffLayer) => boolean): RuffLayer | undefined {
  return chain.findLast(has)
}
