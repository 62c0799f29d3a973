/** What the file at a path is for: the product's own code, or what goes with it. */
export type PathPurpose = 'source' | 'test' | 'fixture' | 'example' | 'docs' | 'migration' | 'benchmark' | 'script'

/** Names of folders and files that say what a file is for, in lower case; `top…` only at the top of the repository. */
type PurposeRow = {
  purpose: Exclude<PathPurpose, 'source'>
  folder?: RegExp
  topFolder?: RegExp
  file?: RegExp
  topFile?: RegExp
}

/** The first row that fits counts: a fixture lies among the tests, and a test among the examples is a test. */
const rows: readonly PurposeRow[] = [
  {
    purpose: 'fixture',
    folder: /^(?:fixtures?|test[-_]?data|test[-_]?files|test[-_]?cases|__?snapshots__?|snapshots)$/,
  },
  {
    purpose: 'test',
    folder: /^(?:_?tests?|__tests__|test[-_]?suites?|(?:unit|functional|integration|regression|system)[-_]?tests?)$/,
    topFolder: /^(?:testing|integration|e2e|qa|spec|specs|fuzz|fuzzing)$/,
    file: /^(?:test_.*|.*_tests?|tests|conftest)\.pyi?$/,
  },
  { purpose: 'migration', folder: /^(?:migrations|alembic)$/ },
  {
    purpose: 'benchmark',
    folder: /^(?:benchmarks?|asv_bench)$/,
    topFolder: /^(?:bench|perf|performance|profiling)$/,
    file: /^(?:bench(?:mark)?_.*|.*_bench(?:mark)?)\.py$/,
  },
  {
    purpose: 'example',
    folder: /^(?:.*[-_])?examples?$/,
    topFolder: /^(?:demos?|samples?|tutorials?|notebooks?|cookbook|playground)$/,
  },
  { purpose: 'docs', topFolder: /^(?:docs?|documentation|website|sites?)$/ },
  {
    purpose: 'script',
    topFolder: /^(?:scripts?|tools?|bin|ci|\..*|maint|maintenance|dev|devtools|misc|contrib|hack|packaging|release)$/,
    file: /^(?:manage|versioneer|ez_setup)\.py$/,
    topFile: /^(?:setup|noxfile|tasks|fabfile|dodo|wscript|hubconf|toxfile|runtests?|run_tests?|build|release)\.py$/,
  },
]

/**
 * What the file is for, by the names that Python projects commonly use. `source` where nothing says otherwise: a module
 * `testing.py`, or a folder `testing` inside a package, is part of the product.
 */
export function purposeOf(path: string): PathPurpose {
  const parts = path.toLowerCase().split('/')
  const file = parts.at(-1) ?? ''
  const folders = parts.slice(0, -1)
  const found = rows.find(
    (row) =>
      folders.some((folder) => row.folder?.test(folder) === true) ||
      row.topFolder?.test(folders[0] ?? '') === true ||
      row.file?.test(file) === true ||
      (folders.length === 0 && row.topFile?.test(file) === true),
  )
  return found?.purpose ?? 'source'
}
