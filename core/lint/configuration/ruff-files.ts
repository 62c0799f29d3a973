import { type PathTest, type PerFileTest, ruffExcludeTest, ruffIncludeTest, ruffPerFileTest } from './file-patterns.ts'
import { folderOf, nameOf, stringOf, stringsOf, tableAt } from './config-tree.ts'
import { lastWith, type RuffLayer } from './ruff-chain.ts'

/** What one configuration says about files. */
export type RuffFiles = {
  /** `exclude` and `extend-exclude`, for folders and files. */
  isExcluded: PathTest
  /** `include` and `extend-include`. */
  isIncluded: PathTest
  /** `lint.exclude`: formatted, but not linted. */
  isNotLinted: PathTest
  ignoredIn(path: string): string[]
  targetOf(path: string): string | undefined
  /** Every selector of the per-file ignores, and every version of `per-file-target-version`. */
  ignorable: readonly string[]
  targets: readonly string[]
}

/** Ruff's own list, of version 0.17. */
const excludedNames = new Set(
  (
    '.bzr .direnv .eggs .git .git-rewrite .hg .ipynb_checkpoints .mypy_cache .nox .pants.d .pyenv .pytest_cache ' +
    '.pytype .ruff_cache .svn .tox .venv .vscode __pypackages__ _build buck-out dist node_modules site-packages venv'
  ).split(' '),
)

const isExcludedByDefault: PathTest = (path) => excludedNames.has(nameOf(path))

export function ruffFiles(chain: readonly RuffLayer[]): RuffFiles {
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
    isNotLinted: notLinted(chain),
    ignoredIn: ignoredReader(perFile),
    targetOf: (path) => targets.find(({ isMeant }) => isMeant(path))?.version,
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
  const layer = lastWith(chain, ({ top }) => top[key] !== undefined)
  return layer && testsOf(layer, layer.top[key], read)
}

function all(chain: readonly RuffLayer[], key: string, read: PatternReader): PathTest {
  return any(chain.map((layer) => testsOf(layer, layer.top[key], read)))
}

function includedByDefault(chain: readonly RuffLayer[]): PathTest {
  const isPreview = lastWith(chain, ({ top }) => top['preview'] !== undefined)?.top['preview'] === true
  const extensions = tableAt(lastWith(chain, ({ top }) => top['extension'] !== undefined)?.top['extension']) ?? {}
  const endings = ['py', 'pyi', ...(isPreview ? ['pyw'] : []), ...Object.keys(extensions)]
  return (path) => endings.some((ending) => path.endsWith(`.${ending}`))
}

function notLinted(chain: readonly RuffLayer[]): PathTest {
  const layer = lastWith(chain, ({ lint }) => lint['exclude'] !== undefined)
  return layer === undefined ? () => false : testsOf(layer, layer.lint['exclude'], ruffExcludeTest)
}

type PerFileIgnore = PerFileTest & { selectors: string[] }

/** Patterns that name other folders are not held against each file. */
function ignoredReader(perFile: readonly PerFileIgnore[]): RuffFiles['ignoredIn'] {
  const known = new Map<string, PerFileIgnore[]>()
  return (path) => {
    const folder = folderOf(path)
    const possible = known.get(folder) ?? perFile.filter(({ mayMatchIn }) => mayMatchIn(folder))
    known.set(folder, possible)
    return [...new Set(possible.filter(({ isMeant }) => isMeant(path)).flatMap(({ selectors }) => selectors))]
  }
}

function perFileIgnores(chain: readonly RuffLayer[]): PerFileIgnore[] {
  const read = (layer: RuffLayer, key: string) =>
    Object.entries(tableAt(layer.lint[key]) ?? {}).map(([pattern, selectors]) => ({
      ...ruffPerFileTest(pattern, layer.folder),
      selectors: stringsOf(selectors),
    }))
  const layer = lastWith(chain, ({ lint }) => lint['per-file-ignores'] !== undefined)
  const own = layer === undefined ? [] : read(layer, 'per-file-ignores')
  return [...own, ...chain.flatMap((one) => read(one, 'extend-per-file-ignores'))]
}

function perFileTargets(chain: readonly RuffLayer[]): { isMeant: PathTest; version: string }[] {
  const layer = lastWith(chain, ({ top }) => top['per-file-target-version'] !== undefined)
  if (layer === undefined) return []
  return Object.entries(tableAt(layer.top['per-file-target-version']) ?? {}).flatMap(([pattern, value]) => {
    const version = stringOf(value)
    return version === undefined ? [] : [{ isMeant: ruffPerFileTest(pattern, layer.folder).isMeant, version }]
  })
}
