import { isTestFile, type Import, type Source } from './source-files.ts'

/** What every core folder but `domain` and `platform` may import without being listed. */
const commonFolders = ['domain', 'platform', 'syntax']

/** core folder → the other core folders its source may import. A folder that is not listed here fails. */
const coreFolders: Record<string, readonly string[]> = {
  domain: [],
  platform: ['domain'],
  syntax: ['domain', 'platform'],
  python: commonFolders,
  'doc-comments': commonFolders,
  lint: [...commonFolders, 'python'],
  sandbox: commonFolders,
  'tool-scripts': commonFolders,
  bundles: [...commonFolders, 'tool-scripts'],
  settings: commonFolders,
  queues: commonFolders,
  ledger: commonFolders,
  metrics: commonFolders,
  tracing: commonFolders,
  objects: commonFolders,
  models: commonFolders,
  composition: [...commonFolders, 'ledger', 'objects', 'python'],
  'code-hosts': [...commonFolders, 'ledger'],
  publication: [...commonFolders, 'ledger', 'objects', 'composition'],
  retries: [...commonFolders, 'ledger', 'composition'],
  review: [...commonFolders, 'ledger', 'objects', 'composition', 'retries'],
  proof: [...commonFolders, 'ledger', 'objects', 'queues', 'composition'],
  testing: [...commonFolders, 'tool-scripts', 'bundles', 'queues', 'ledger', 'objects', 'models'],
}

/**
 * The stages of the worker; each may import itself and the ranks below its own. Files at the worker's root compose them
 * all.
 */
const workerRanks: Record<string, number> = {
  workspace: 0,
  evidence: 1,
  tools: 2,
  context: 3,
  agent: 4,
  operation: 5,
  composition: 5,
}

/** The folders of core/models; each may import itself and the ranks below its own. Files at its root compose them all. */
const modelRanks: Record<string, number> = { http: 0, wire: 1, capabilities: 2, pool: 3 }

/** Third-party libraries that only one folder may import, so that only that folder deals with their pitfalls. */
const packageHomes: Record<string, string> = {
  bullmq: 'core/queues/',
  openai: 'core/models/',
  '@aws-sdk/client-s3': 'core/objects/',
  '@smithy/signature-v4': 'core/objects/',
  '@pydantic/monty': 'core/tool-scripts/',
  'prom-client': 'core/metrics/',
  '@octokit/core': 'core/code-hosts/',
  '@octokit/auth-app': 'core/code-hosts/',
  '@octokit/webhooks': 'services/api/webhooks/',
  '@opentelemetry/api': 'core/tracing/',
  '@opentelemetry/sdk-trace': 'core/tracing/',
  '@opentelemetry/exporter-trace-otlp-http': 'core/tracing/',
  '@opentelemetry/resources': 'core/tracing/',
}

const domainPackages = new Set(['zod', 'node:crypto'])

/** What crosses HTTP: for the API, and for clients that may run in a browser. */
const wireSchemas = 'services/api/schemas/'

/**
 * The parts of `cli` that run a service's code in this process, and what of the services each may import. Everything else
 * in `cli` is a client of the HTTP API.
 */
const cliServices: Record<string, RegExp> = {
  stack: /^services\/([a-z]+)\/(?:main|\1-(?:config|server|service))\.ts$/, // starts the services
  discover: /^services\/discovery\//, // code nodes and query packs of a local folder
  tool: /^services\/(?:discovery|worker\/(?:evidence|tools|workspace))\//, // runs a tool script as a worker does
  harness: /^services\/(?:worker\/(?:agent|tools)\/|rehearsal\/rehearsal-(?:config|server)\.ts$)/, // a model in the workers' loop
}

/** Core folders that only some files of `cli` may import: the stores of a run are read through the API. */
const cliCore: Record<string, RegExp> = {
  ledger: /^cli\/(?:commands\/verify-command|doctor\/examine-services)\.ts$/,
  objects: /^cli\/(?:commands\/verify-command\.ts$|harness\/)/,
  queues: /^cli\/commands\/verify-command\.ts$/,
  proof: /^cli\/commands\/verify-command\.ts$/,
  models: /^cli\/harness\//,
}

/** Every way in which a file breaks the layers of ARCHITECTURE.md, one sentence each. */
export function layerViolations(file: Source): string[] {
  return file.imports.flatMap((one) => {
    const reason = forbiddenImport(file.path, one)
    return reason === undefined ? [] : [`${file.path} imports ${one.specifier}: ${reason}`]
  })
}

function forbiddenImport(from: string, { specifier, target, isOurs }: Import): string | undefined {
  if (!isOurs) return forbiddenPackage(from, target)
  if (target.startsWith('core/testing/') && !isTestFile(from) && !from.startsWith('core/testing/'))
    return 'core/testing is for tests only'
  const [area, part] = from.split('/')
  if (area === 'cli') return forbiddenInCli(from, target)
  const forbidden = area === 'core' ? forbiddenInCore(from, part ?? '', target) : forbiddenInService(from, target)
  if (area !== 'core' && area !== 'services') return undefined
  return forbidden ?? relativeEscape(specifier, from, target)
}

function forbiddenPackage(from: string, name: string): string | undefined {
  const home = packageHomes[name]
  // The fake code host is tested with the clients that everybody uses.
  const isOther = /^(?:bench\/(?:peers|frameworks)|core\/testing\/fake-github)\//.test(from)
  if (home !== undefined && !from.startsWith(home) && !isOther) return `only ${home} imports ${name}`
  if (from.startsWith(wireSchemas) && name !== 'zod') return 'the schemas of the wire know only core/domain and zod'
  if (!from.startsWith('core/domain/') || isTestFile(from) || domainPackages.has(name)) return undefined
  return 'the domain knows only zod and node:crypto'
}

function forbiddenInCore(from: string, folder: string, path: string): string | undefined {
  const [area, targetFolder = ''] = path.split('/')
  if (area !== 'core') return 'core never imports what is built on it'
  const allowed = coreFolders[folder]
  if (allowed === undefined) return `core/${folder} is not in the table of tests/house/layer-rules.ts`
  if (folder === 'models' && targetFolder === folder) return forbiddenInModels(from, path)
  if (targetFolder === folder || isTestFile(from) || allowed.includes(targetFolder)) return undefined
  return `core/${folder} may not know core/${targetFolder}`
}

function forbiddenInModels(from: string, path: string): string | undefined {
  const [stage = '', targetStage = ''] = [from, path].map((file) => file.split('/')[2] ?? '')
  if (isRootFile(from) || isTestFile(from) || stage === targetStage) return undefined
  if (isRootFile(path)) return 'a part of core/models does not import what composes it'
  const rank = modelRanks[stage]
  if (rank === undefined) return `core/models/${stage} is not in the table of tests/house/layer-rules.ts`
  return (modelRanks[targetStage] ?? Infinity) < rank ? undefined : `${stage} comes before ${targetStage}`
}

function forbiddenInService(from: string, path: string): string | undefined {
  const [, service, stage = ''] = from.split('/')
  const [area, targetService, targetStage = ''] = path.split('/')
  if (from.startsWith(wireSchemas) && !path.startsWith(wireSchemas) && !path.startsWith('core/domain/'))
    return 'the schemas of the wire know only core/domain and zod'
  if (area === 'core') return undefined
  if (area !== 'services') return 'a service imports only core and itself'
  if (service !== targetService) return 'services never import each other'
  if (service !== 'worker' || isRootFile(from) || stage === targetStage) return undefined
  const rank = workerRanks[stage]
  if (rank === undefined) return `services/worker/${stage} is not in the table of tests/house/layer-rules.ts`
  if (isRootFile(path)) return 'a stage does not import what composes it'
  return (workerRanks[targetStage] ?? Infinity) < rank ? undefined : `${stage} comes before ${targetStage}`
}

function isRootFile(path: string): boolean {
  return path.split('/').length === 3
}

const clientOnly = 'the CLI is a client of the HTTP API (see cliServices and cliCore in tests/house/layer-rules.ts)'

function forbiddenInCli(from: string, path: string): string | undefined {
  const [area, folder = ''] = path.split('/')
  if (area === 'cli' || path.startsWith(wireSchemas) || isTestFile(from)) return undefined
  if (area === 'core') return cliCore[folder]?.test(from) === false ? clientOnly : undefined
  const [, part = ''] = from.split('/')
  return cliServices[part]?.test(path) === true ? undefined : clientOnly
}

/** A relative path may not leave `core/<folder>` or `services/<name>`: other folders are named by `#…`. */
function relativeEscape(specifier: string, from: string, path: string): string | undefined {
  const tree = from.split('/').slice(0, 2).join('/')
  return specifier.startsWith('.') && !path.startsWith(`${tree}/`)
    ? 'relative imports stay inside one folder; use #…'
    : undefined
}
