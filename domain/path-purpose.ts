/** Says what the file at a path is for: the product's own code, or what goes with it. */
export type PathPurpose = 'source' | 'test' | 'fixture' | 'example' | 'docs' | 'migration' | 'benchmark' | 'script'

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
    file: /^(?:test_.*|.*_tests?|tests|conftest)\.pyi?$|\.(?:test|spec|e2e|stories|cy)(?:-d)?\.[cm]?[jt]sx?$|_test\.go$|tests?\.(?:rs|java)$/,
  },
  { purpose: 'migration', folder: /^(?:migrations|alembic)$/ },
  {
    purpose: 'benchmark',
    folder: /^(?:benchmarks?|benches|asv_bench)$/,
    topFolder: /^(?:bench|perf|performance|profiling)$/,
    file: /^(?:bench(?:mark)?_.*|.*_bench(?:mark)?)\.py$|\.bench(?:mark)?\.[cm]?[jt]sx?$/,
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
    topFile:
      /^(?:setup|noxfile|tasks|fabfile|dodo|wscript|hubconf|toxfile|runtests?|run_tests?|build|release)\.py$|^(?:gulpfile|gruntfile)\.|\.config\.[cm]?[jt]s$|^\.[\w.-]+\.[cm]?[jt]s$|^build\.rs$/,
  },
]

/** Judges by the names that projects commonly use; `source` where nothing says otherwise, as of a module `testing.py`. */
export function purposeOf(path: string): PathPurpose {
  const parts = path.toLowerCase().split('/')
  const file = parts.at(-1) ?? ''
  const folders = parts.slice(0, -1)
  const match = rows.find(
    (row) =>
      folders.some((folder) => row.folder?.test(folder) === true) ||
      row.topFolder?.test(folders[0] ?? '') === true ||
      row.file?.test(file) === true ||
      (folders.length === 0 && row.topFile?.test(file) === true),
  )
  return match?.purpose ?? 'source'
}

export const secretReason = 'a secret by its name'

/** These follow the signatures of Gitrob and gitleaks; public keys and templates (`.env.example`) are none. */
const secretNames: readonly RegExp[] = [
  /^\.env(?:rc|[.-].+)?$|.\.env$/,
  /\.(?:pem|key|p12|pfx|pkcs12|jks|keystore|kdbx?|ppk|agilekeychain|ovpn|tfstate(?:\.backup)?|tfvars(?:\.json)?)$/,
  /^.+_(?:rsa|dsa|ecdsa|ed25519)$/,
  /^\.(?:npmrc|pypirc|netrc|pgpass|my\.cnf|git-credentials|htpasswd|dockercfg|s3cfg|boto|vault[-_]pass|esmtprc)$/,
  /^(?:_netrc|htpasswd|\.?credentials(?:\.json)?|client_secrets?\.json|service[-_]?account(?:[-_.].*)?\.json)$/,
  /^secrets\.(?:ya?ml|json|toml|ini|properties)$/,
]
const secretTemplate = /[.-](?:example|sample|template|tmpl|dist|defaults?)$/
const secretPath = /(?:^|\/)(?:\.docker\/config\.json|\.kube\/config|\.gnupg\/.+)$/

export function isSecretByName(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  if (secretTemplate.test(name)) return false
  return secretNames.some((pattern) => pattern.test(name)) || secretPath.test(path)
}
