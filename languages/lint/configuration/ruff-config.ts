import { folderOf } from '#domain/repo-path.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { type ConfigTree, nameOf, stringOf, stringsOf, type Table, tableAt, within } from './config-tree.ts'
import { combinedSelection, selectionKeys } from './rule-selection.ts'
import {
  type PathTest,
  type PerFileTest,
  placeOf,
  ruffExcludeTest,
  ruffIncludeTest,
  ruffPerFileTest,
} from './file-patterns.ts'

export type RuffConfig = {
  /** Names the file and table to users: `src/ruff.toml`, `pyproject.toml [tool.ruff]`. */
  source: string
  folder: string
  chain: readonly RuffLayer[]
  files: ReturnType<typeof ruffFiles>
  /** Ruff's options, except those that depend on a file's path. */
  options: Record<string, unknown>
  /** Rules of `extend-unsafe-fixes`. Ruff's own list of safe fixes is not used, so `extend-safe-fixes` adds nothing. */
  unsafe: readonly string[]
  format: Table
}

/** Options that affect what is reported; all others concern files, output or the formatter. */
const topOptions = ['preview', 'builtins', 'line-length', 'indent-width', 'target-version']

export function ruffConfig(chain: readonly RuffLayer[]): RuffConfig {
  const own = chain.at(-1)
  const path = own?.path ?? ''
  const top: Record<string, unknown> = {}
  for (const layer of chain) {
    for (const key of topOptions) if (layer.top[key] !== undefined) top[key] = layer.top[key]
  }
  const format = Object.assign({}, ...chain.map((layer) => tableAt(layer.top['format']) ?? {}))
  return {
    source: nameOf(path) === 'pyproject.toml' ? `${path} [tool.ruff]` : path,
    folder: own?.folder ?? '',
    chain,
    files: ruffFiles(chain),
    options: { ...top, lint: combinedLint(chain) },
    unsafe: chain.flatMap(({ lint }) => stringsOf(lint['extend-unsafe-fixes'])),
    format,
  }
}

export function requiredRuff(chain: readonly RuffLayer[]): string | undefined {
  return stringOf(chain.findLast(({ top }) => top['required-version'] !== undefined)?.top['required-version'])
}

/** A configuration file of Ruff: its top-level keys, and the linter's, which may be at the top too (deprecated). */
export type RuffLayer = { path: string; folder: string; top: Table; lint: Table }

/** Top-level keys that are not the linter's. */
const topKeys = new Set(
  (
    'cache-dir extend required-version output-format output-prefer-rule-codes fix unsafe-fixes fix-only show-fixes ' +
    'exclude extend-exclude extend-include force-exclude include respect-gitignore builtins namespace-packages ' +
    'target-version per-file-target-version src line-length indent-width lint format analyze preview extension'
  ).split(' '),
)

/** The file that Ruff reads in a folder: `.ruff.toml`, else `ruff.toml`, else `pyproject.toml` with `[tool.ruff]`. */
export function ruffConfigIn(tree: ConfigTree, folder: string): string | undefined {
  const names = ['.ruff.toml', 'ruff.toml', 'pyproject.toml'].map((name) => within(folder, name))
  return names.find((path) => ruffTable(tree, path) !== undefined)
}

function ruffTable(tree: ConfigTree, path: string): Table | undefined {
  const table = tree.table(path)
  return nameOf(path) === 'pyproject.toml' ? tableAt(table, 'tool', 'ruff') : table
}

/** A configuration and those that it extends, itself last. One that cannot be read is left out with a notice. */
export function ruffChain(tree: ConfigTree, path: string, notice: (words: string) => void): RuffLayer[] {
  const chain: RuffLayer[] = []
  for (let next: string | undefined = path; next !== undefined;) {
    if (chain.some((layer) => layer.path === next)) {
      notice(`${path} extends itself through ${next}, which Ruff refuses; each file counts once`)
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
  const place = extended.startsWith('$') ? undefined : placeOf(extended, layer.folder)
  if (place !== undefined) return [place.folder, place.rest].filter((part) => part !== '').join('/')
  notice(`${layer.path} extends ${extended}, which is outside the repository and is not read`)
  return undefined
}

/**
 * The linter's tables of a chain as one: later values replace earlier ones, tables of plugins are merged key by key,
 * and rule selections are combined. Patterns of files are left out, since each is relative to the folder of its layer.
 */
function combinedLint(chain: readonly RuffLayer[]): Record<string, unknown> {
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

/** Ruff 0.17's default of `exclude`. */
const excludedNames = new Set(
  (
    '.bzr .direnv .eggs .git .git-rewrite .hg .ipynb_checkpoints .mypy_cache .nox .pants.d .pyenv .pytest_cache ' +
    '.pytype .ruff_cache .svn .tox .venv .vscode __pypackages__ _build buck-out dist node_modules site-packages venv'
  ).split(' '),
)

const isExcludedByDefault: PathTest = (path) => excludedNames.has(nameOf(path))

/** The options of a configuration that depend on the file. */
function ruffFiles(chain: readonly RuffLayer[]) {
  const perFile = perFileIgnores(chain)
  const targets = perFileTargets(chain)
  return {
    isExcluded: any([
      last(chain, 'exclude', ruffExcludeTest) ?? isExcludedByDefault,
      all(chain, 'extend-exclude', ruffExcludeTest),
    ]),
    isIncluded: any([
      last(chain, 'include', ruffIncludeTest) ?? includedByDefault(chain),
      all(chain, 'extend-include', ruffIncludeTest),
    ]),
    /** `lint.exclude`: formatted, but not linted. */
    isNotLinted: notLinted(chain),
    ignoredIn: ignoredReader(perFile),
    targetOf: (path: string) => targets.find(({ isMeant }) => isMeant(path))?.version,
    /** Every selector of the per-file ignores, and every version of `per-file-target-version`. */
    ignorable: [...new Set(perFile.flatMap(({ selectors }) => selectors))],
    targets: [...new Set(targets.map(({ version }) => version))],
  }
}

type PatternReader = (pattern: string, folder: string) => PathTest

function any(tests: readonly PathTest[]): PathTest {
  return (path) => tests.some((test) => test(path))
}

function testsOf(layer: RuffLayer, value: unknown, read: PatternReader): PathTest {
  return any(stringsOf(value).map((pattern) => read(pattern, layer.folder)))
}

function last(chain: readonly RuffLayer[], key: string, read: PatternReader): PathTest | undefined {
  const layer = chain.findLast(({ top }) => top[key] !== undefined)
  return layer && testsOf(layer, layer.top[key], read)
}

function all(chain: readonly RuffLayer[], key: string, read: PatternReader): PathTest {
  return any(chain.map((layer) => testsOf(layer, layer.top[key], read)))
}

function includedByDefault(chain: readonly RuffLayer[]): PathTest {
  const isPreview = chain.findLast(({ top }) => top['preview'] !== undefined)?.top['preview'] === true
  const extensions = tableAt(chain.findLast(({ top }) => top['extension'] !== undefined)?.top['extension']) ?? {}
  const endings = ['py', 'pyi', ...(isPreview ? ['pyw'] : []), ...Object.keys(extensions)]
  return (path) => endings.some((ending) => path.endsWith(`.${ending}`))
}

function notLinted(chain: readonly RuffLayer[]): PathTest {
  const layer = chain.findLast(({ lint }) => lint['exclude'] !== undefined)
  return layer === undefined ? () => false : testsOf(layer, layer.lint['exclude'], ruffExcludeTest)
}

type PerFileIgnore = PerFileTest & { selectors: string[] }

/** Patterns that cannot match in a file's folder are not tried for the file. */
function ignoredReader(perFile: readonly PerFileIgnore[]): (path: string) => string[] {
  const known = new Map<string, PerFileIgnore[]>()
  return (path) => {
    const folder = folderOf(path)
    const possible = getOrMake(known, folder, () => perFile.filter(({ mayMatchIn }) => mayMatchIn(folder)))
    return [...new Set(possible.filter(({ isMeant }) => isMeant(path)).flatMap(({ selectors }) => selectors))]
  }
}

function perFileIgnores(chain: readonly RuffLayer[]): PerFileIgnore[] {
  const read = (layer: RuffLayer, key: string) =>
    Object.entries(tableAt(layer.lint[key]) ?? {}).map(([pattern, selectors]) => ({
      ...ruffPerFileTest(pattern, layer.folder),
      selectors: stringsOf(selectors),
    }))
  const layer = chain.findLast(({ lint }) => lint['per-file-ignores'] !== undefined)
  const own = layer === undefined ? [] : read(layer, 'per-file-ignores')
  return [...own, ...chain.flatMap((one) => read(one, 'extend-per-file-ignores'))]
}

function perFileTargets(chain: readonly RuffLayer[]): { isMeant: PathTest; version: string }[] {
  const layer = chain.findLast(({ top }) => top['per-file-target-version'] !== undefined)
  if (layer === undefined) return []
  return Object.entries(tableAt(layer.top['per-file-target-version']) ?? {}).flatMap(([pattern, value]) => {
    const version = stringOf(value)
    return version === undefined ? [] : [{ isMeant: ruffPerFileTest(pattern, layer.folder).isMeant, version }]
  })
}
