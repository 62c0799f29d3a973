import { isTestFile, type Import, type Source } from './source-files.ts'

/**
 * room → the rooms that its source may import, beside itself, `domain` and `platform`. A room is a folder, or one of the folders in `store` and
 * `stages`. A room that is not listed here fails.
 */
const rooms: Record<string, readonly string[]> = {
  domain: [],
  client: [],
  dashboard: ['client'],
  platform: [],
  settings: [],
  languages: [],
  sandbox: [],
  models: [],
  'store/ledger': [],
  'store/objects': [],
  'store/queues': [],
  'store/start-service.ts': ['store/ledger', 'store/objects'],
  'tool-scripts': ['languages'],
  bundles: ['tool-scripts'],
  'code-hosts': ['store/ledger'],
  'change-sets': ['languages', 'store/ledger', 'store/objects'],
  'stages/intake': [
    'bundles',
    'change-sets',
    'code-hosts',
    'languages',
    'store/ledger',
    'store/objects',
    'stages/review',
  ],
  'stages/snapshot': ['code-hosts', 'store/ledger', 'store/objects', 'stages/review'],
  'stages/discover': ['languages', 'store/objects'],
  'stages/plan': ['bundles', 'languages', 'store/ledger', 'store/objects', 'stages/snapshot', 'stages/discover'],
  'stages/dispatch': ['store/ledger', 'store/queues', 'stages/plan'],
  'stages/operate': [
    'bundles',
    'change-sets',
    'languages',
    'models',
    'sandbox',
    'store/ledger',
    'store/objects',
    'tool-scripts',
  ],
  'stages/conduct': ['bundles', 'store/ledger', 'store/objects', 'stages/operate'],
  'stages/compose': [
    'change-sets',
    'languages',
    'sandbox',
    'settings',
    'store/ledger',
    'store/objects',
    'stages/operate',
  ],
  'stages/watch': ['bundles', 'store/ledger', 'stages/operate'],
  'stages/review': ['change-sets', 'store/ledger', 'store/objects'],
  'stages/publish': ['change-sets', 'code-hosts', 'settings', 'store/ledger', 'store/objects'],
  'stages/audit': ['change-sets', 'store/ledger', 'store/objects', 'store/queues'],
}

/** service → the stages that it runs. Every other room is open to it; what it must never reach is in layers.test.ts. */
const serviceStages: Record<string, readonly string[]> = {
  api: ['intake', 'review', 'publish'],
  discovery: ['snapshot', 'discover', 'plan', 'dispatch', 'review'],
  worker: ['operate', 'compose'],
  conductor: ['conduct'],
  watcher: ['watch'],
  publisher: ['review', 'publish'],
  setup: [],
  rehearsal: [],
}

type HostReader = { by: string; knows: RegExp }

/**
 * The readers of `agents/<name>/host`: `<reader>.ts`, and the folder of that name for what it needs. `by` is the table that lists the
 * hosts, `knows` what of the stages and services these may import; every other room is open to them.
 */
const hostReaders: Record<string, HostReader> = {
  survey: { by: 'stages/plan/node-work.ts', knows: /^stages\/(?:discover|plan)\// },
  checks: { by: 'stages/operate/evidence/evidence-checker.ts', knows: /^stages\/operate\/(?:workspace|evidence)\// },
  externals: {
    by: 'stages/operate/tools/externals/attempt-externals.ts',
    knows: /^stages\/operate\/(?:workspace|evidence|tools)\//,
  },
  rehearsal: { by: 'services/rehearsal/next-move.ts', knows: /^services\/rehearsal\// },
}

/** These parts of the last stage write to a code host: only the publisher, which has a key, may import them. */
const hostWriters = /^stages\/publish\/(?:github|pulls)\//

/** The parts of the stage `operate`; each may import itself and the ranks below its own. */
const operateRanks: Record<string, number> = {
  workspace: 0,
  evidence: 1,
  tools: 2,
  context: 3,
  agent: 4,
  start: 5,
  attempt: 5,
  ending: 5,
}

/** The folders of `models`; each may import itself and the ranks below its own. Files at its root compose them all. */
const modelRanks: Record<string, number> = { http: 0, wire: 1, capabilities: 2, pool: 3 }

/** Third-party libraries that only one folder may import, so that only that folder deals with their pitfalls. */
const packageHomes: Record<string, string> = {
  bullmq: 'store/queues/',
  openai: 'models/',
  '@aws-sdk/client-s3': 'store/objects/',
  '@smithy/signature-v4': 'store/objects/',
  '@pydantic/monty': 'tool-scripts/',
  'prom-client': 'platform/metrics/',
  '@octokit/core': 'code-hosts/',
  '@octokit/auth-app': 'code-hosts/',
  '@octokit/webhooks': 'services/api/routes/webhooks/',
  ws: 'services/api/',
  '@opentelemetry/api': 'platform/tracing/',
  '@opentelemetry/sdk-trace': 'platform/tracing/',
  '@opentelemetry/exporter-trace-otlp-http': 'platform/tracing/',
  '@opentelemetry/resources': 'platform/tracing/',
}

const domainPackages = new Set(['zod', 'node:crypto'])

/** What crosses HTTP: for the API, and for clients that may run in a browser. */
const wireSchemas = 'services/api/schemas/'

/** The client runs in browsers, without our rooms and without zod: one file of it has what crosses HTTP, as types. */
const clientTypes = 'client/wire.ts'

/**
 * The parts of `cli` that run a service's code in this process, and what each may import. Everything else in `cli` is a client of the HTTP
 * API.
 */
const cliStages: Record<string, RegExp> = {
  stack: /^services\/([a-z]+)\/(?:main|\1-(?:app|config|server|service))\.ts$/, // starts the services
  discover: /^(?:services\/discovery|stages\/discover)\//, // code nodes and query packs of a local folder
  tool: /^(?:services\/discovery|stages\/discover|stages\/operate\/(?:evidence|tools|workspace))\//, // runs a tool script as a worker does
  harness: /^(?:stages\/operate\/(?:agent|tools)\/|services\/rehearsal\/rehearsal-(?:config|server)\.ts$)/, // a model in the workers' loop
  publish: /^stages\/publish\/[\w-]+\.ts$/, // writes an accepted patch to a remote of git
}

/** Rooms that only some files of `cli` may import: the stores of a run are read through the API. */
const cliRooms: Record<string, RegExp> = {
  'store/ledger': /^cli\/(?:commands\/verify-command|doctor\/examine-services)\.ts$/,
  'store/objects': /^cli\/(?:commands\/verify-command\.ts$|harness\/|stack\/)/,
  'store/queues': /^cli\/commands\/verify-command\.ts$/,
  'stages/audit': /^cli\/commands\/verify-command\.ts$/,
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
  if (target.startsWith('testing/') && !isTestFile(from) && !/^(?:bench|scripts)\//.test(from))
    return 'testing is for tests only'
  const [area = ''] = from.split('/')
  if (['bench', 'examples', 'scripts', 'testing', 'tests'].includes(area) || !from.includes('/')) return undefined
  if (area === 'cli') return forbiddenInCli(from, target)
  const rules = area === 'services' ? forbiddenInService : area === 'agents' ? forbiddenInHost : forbiddenInRoom
  return forbiddenHost(from, target) ?? rules(from, target) ?? relativeEscape(specifier, from, target)
}

function forbiddenPackage(from: string, name: string): string | undefined {
  const home = packageHomes[name]
  // The fake code host is tested with the clients that everybody uses.
  const isOther = /^(?:bench\/(?:peers|frameworks)|testing\/fake-github)\//.test(from)
  if (home !== undefined && !from.startsWith(home) && !isOther) return `only ${home} imports ${name}`
  if (from.startsWith(wireSchemas) && name !== 'zod') return 'the schemas of the wire know only domain and zod'
  if (from.startsWith('client/') && !isTestFile(from))
    return name === (from === clientTypes ? 'zod' : 'eventsource-parser') ? undefined : 'the client runs in browsers'
  if (!from.startsWith('domain/') || isTestFile(from) || domainPackages.has(name)) return undefined
  return 'the domain knows only zod and node:crypto'
}

/** `stages/plan` of `stages/plan/plan-run.ts`, `models` of `models/pool/pick.ts`. */
function roomOf(path: string): string {
  const [folder = '', part = ''] = path.split('/')
  return ['agents', 'store', 'stages', 'services'].includes(folder) ? `${folder}/${part}` : folder
}

function forbiddenInRoom(from: string, path: string): string | undefined {
  const [room, target] = [roomOf(from), roomOf(path)]
  const allowed = rooms[room]
  if (allowed === undefined) return `${room} is not in the table of tests/house/layer-rules.ts`
  if (room === 'models' && target === room) return forbiddenRank(from, path, { ranks: modelRanks, depth: 1 })
  if (room === 'stages/operate' && target === room) return forbiddenRank(from, path, { ranks: operateRanks, depth: 2 })
  if (target === room || isTestFile(from)) return undefined
  if (room === 'client')
    return from === clientTypes && path.startsWith(wireSchemas) ? undefined : 'the client knows only types of the wire'
  if ((room === 'stages/intake' || room === 'dashboard') && path.startsWith(wireSchemas)) return undefined
  if (room === 'dashboard' && target === 'platform') return 'the page runs in browsers'
  if (target.startsWith('services/') || target === 'cli') return 'a room never imports what is built on it'
  if (target.startsWith('agents/')) return undefined
  const isCommon = target === 'platform' || target === 'domain'
  if (room === 'domain' || (room === 'platform' && target !== 'domain')) return `${room} may not know ${target}`
  return isCommon || allowed.includes(target) ? undefined : `${room} may not know ${target}`
}

/** Only one table imports the hosts of a reader. */
function forbiddenHost(from: string, path: string): string | undefined {
  if (!path.startsWith('agents/') || from.startsWith('agents/') || isTestFile(from)) return undefined
  const reader = hostReaders[/^agents\/\w+\/host\/(\w+)\.ts$/.exec(path)?.[1] ?? '']
  return reader?.by === from ? undefined : 'only the table of its reader imports a host'
}

function forbiddenInHost(from: string, path: string): string | undefined {
  const [reader = '', target = ''] = [from, path].map((file) => file.split('/')[3]?.replace(/\.ts$/, ''))
  if (isTestFile(from)) return undefined
  if (/^(?:services|stages|cli)\//.test(path))
    return hostReaders[reader]?.knows.test(path) === true ? undefined : 'a host knows its reader alone'
  if (!path.startsWith('agents/')) return undefined
  const isOwn = path.split('/').slice(0, 3).join('/') === from.split('/').slice(0, 3).join('/')
  const isNear = target === reader || (reader === 'externals' && target === 'checks')
  return isOwn && isNear ? undefined : 'a host knows itself and its reader alone'
}

function forbiddenRank(
  from: string,
  path: string,
  { ranks, depth }: { ranks: Record<string, number>; depth: number },
): string | undefined {
  const isRoot = (file: string) => file.split('/').length === depth + 1
  const [part = '', target = ''] = [from, path].map((file) => file.split('/')[depth] ?? '')
  if (isRoot(from) || isTestFile(from) || part === target) return undefined
  const rank = ranks[part]
  if (rank === undefined) return `${part} is not in the table of tests/house/layer-rules.ts`
  if (isRoot(path)) return rank === 5 ? undefined : 'a part does not import what composes it'
  const targetRank = ranks[target] ?? Infinity
  return targetRank < rank || (rank === 5 && targetRank === 5) ? undefined : `${part} comes before ${target}`
}

function forbiddenInService(from: string, path: string): string | undefined {
  const [, service = ''] = from.split('/')
  const [area = '', part = ''] = path.split('/')
  if (from.startsWith(wireSchemas) && !path.startsWith(wireSchemas) && !path.startsWith('domain/'))
    return 'the schemas of the wire know only domain and zod'
  if (area === 'cli') return 'a service never imports what is built on it'
  if (area === 'services') return part === service ? undefined : 'services never import each other'
  if (area !== 'stages' || isTestFile(from)) return undefined
  if (hostWriters.test(path) && service !== 'publisher') return 'only the publisher writes to a code host'
  const stages = serviceStages[service]
  if (stages === undefined) return `services/${service} is not in the table of tests/house/layer-rules.ts`
  return stages.includes(part) ? undefined : `services/${service} does not run the stage ${part}`
}

const clientOnly = 'the CLI is a client of the HTTP API (see cliStages and cliRooms in tests/house/layer-rules.ts)'

function forbiddenInCli(from: string, path: string): string | undefined {
  const room = roomOf(path)
  if (room === 'cli' || path.startsWith(wireSchemas) || isTestFile(from)) return undefined
  const openTo = cliRooms[room]
  if (openTo !== undefined) return openTo.test(from) ? undefined : clientOnly
  if (!room.startsWith('services/') && !room.startsWith('stages/')) return undefined
  const [, part = ''] = from.split('/')
  return cliStages[part]?.test(path) === true ? undefined : clientOnly
}

/** A relative path may not leave the room: others are named by `#…`. */
function relativeEscape(specifier: string, from: string, path: string): string | undefined {
  return specifier.startsWith('.') && roomOf(path) !== roomOf(from)
    ? 'relative imports stay inside one room; use #…'
    : undefined
}
