import type { ImportEdge } from './read-imports.ts'
import type { ParsedSource } from './parse-source.ts'
import { resolveImport, type ImportTarget } from './resolve-import.ts'
import { isTestFile } from './source-files.ts'

/** What every core folder but `domain` and `platform` may import without being listed. */
const commonFolders = ['domain', 'platform', 'syntax']

/** core folder → the other core folders its source may import. A folder that is not listed here fails. */
const coreFolders: Record<string, readonly string[]> = {
  domain: [],
  platform: ['domain'],
  syntax: ['domain', 'platform'],
  python: commonFolders,
  lint: [...commonFolders, 'python'],
  'tool-scripts': commonFolders,
  bundles: [...commonFolders, 'tool-scripts'],
  settings: commonFolders,
  queues: commonFolders,
  ledger: commonFolders,
  objects: commonFolders,
  models: commonFolders,
  proof: [...commonFolders, 'ledger', 'objects', 'queues'],
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
const modelRanks: Record<string, number> = { http: 0, wire: 1, servers: 2, pool: 3 }

/** Foreign libraries with one home, so that one folder knows their pitfalls. */
const packageHomes: Record<string, string> = {
  bullmq: 'core/queues/',
  openai: 'core/models/',
  '@aws-sdk/client-s3': 'core/objects/',
  '@smithy/signature-v4': 'core/objects/',
  '@pydantic/monty': 'core/tool-scripts/',
}

const domainPackages = new Set(['zod', 'node:crypto'])

/** What `cli` may import besides itself, `core/domain` and `core/platform`. Everything else it does over HTTP. */
const cliExceptions: readonly { from: RegExp; to: RegExp; why: string }[] = [
  {
    from: /^cli\/stack\//,
    to: /^services\/[a-z-]+\/(?:main|config|[a-z-]+-(?:service|server))\.ts$/,
    why: 'the embedded stack composes the services',
  },
  {
    from: /^cli\/(?:commands\/discover\.ts$|discover\/)/,
    to: /^(?:services\/discovery|core\/syntax)\//,
    why: 'discovery in process',
  },
  {
    from: /^cli\/commands\/queries\.ts$/,
    to: /^(?:services\/discovery|core\/syntax)\//,
    why: 'query packs in process',
  },
  {
    from: /^cli\/run\/prepare-start\.ts$/,
    to: /^services\/discovery\/load-sound-packs\.ts$/,
    why: 'broken query packs are refused before anything is started',
  },
  {
    from: /^cli\/commands\/check\.ts$/,
    to: /^core\/(?:bundles|tool-scripts)\//,
    why: 'bundles and scripts in process',
  },
  {
    from: /^cli\/artifacts\//,
    to: /^core\/(?:bundles|tool-scripts)\//,
    why: 'what the compiler of tool scripts makes of them is written where the command runs',
  },
  {
    from: /^cli\/tool\//,
    to: /^(?:core\/(?:bundles|lint|syntax|tool-scripts)|services\/discovery|services\/worker\/(?:evidence|tools|workspace))\//,
    why: 'tool run: a script as a worker runs it, in process',
  },
  {
    from: /^cli\/tool\/workspace-changes\.ts$/,
    to: /^services\/api\/review\/unified-diff\.ts$/,
    why: 'tool run shows changes as a review does',
  },
  {
    from: /^cli\/harness\//,
    to: /^(?:core\/(?:bundles|models|objects|tool-scripts)|services\/worker\/(?:agent|tools))\//,
    why: 'the harness measures a model with the loop and the pool of the workers, in process',
  },
  {
    from: /^cli\/harness\/open-sides\.ts$/,
    to: /^services\/rehearsal\/rehearsal-server\.ts$/,
    why: 'the harness brings the rehearsal model where no server is named',
  },
  { from: /^cli\/commands\/agents\.ts$/, to: /^core\/bundles\/load-bundle\.ts$/, why: 'the bundles that are listed' },
  {
    from: /^cli\/commands\/(?:completion|harness|named-agents)\.ts$/,
    to: /^core\/bundles\/bundle-names\.ts$/,
    why: 'agents are completed, and unknown ones refused early',
  },
  { from: /^cli\//, to: /^core\/settings\//, why: 'the settings file is read where the command runs' },
  {
    from: /^cli\/commands\/verify\.ts$/,
    to: /^core\/(?:ledger|objects|proof|queues)\//,
    why: 'the proof reads the stores themselves, not a view',
  },
]

const environmentReaders = [
  /^core\/platform\/(?:own-node|lean-memory)\.mjs$/, // start the same program again, and hand its environment on
  /^(?:services\/[a-z-]+|cli)\/main\.ts$/,
  /^(?:core\/testing|tests|bench|scripts)\//,
  /\.test\.ts$/,
  /^vitest\.config\.ts$/,
]

/** Every way in which a file breaks the layers of ARCHITECTURE.md, one sentence each. */
export function layerViolations(file: ParsedSource): string[] {
  const found = file.imports.flatMap((edge) => {
    const reason = forbiddenImport(file.path, edge)
    return reason === undefined
      ? []
      : [`${file.path}:${edge.line} imports ${edge.specifier || 'a computed path'}: ${reason}`]
  })
  if (environmentReaders.some((allowed) => allowed.test(file.path))) return found
  return [
    ...found,
    ...file.environmentReads.map((line) => `${file.path}:${line} reads process.env: only main.ts files do`),
  ]
}

function forbiddenImport(from: string, edge: ImportEdge): string | undefined {
  if (edge.kind === 'computed') return 'the module must be a plain string'
  const target = resolveImport(from, edge.specifier)
  if (target.kind !== 'file') return forbiddenPackage(from, target)
  if (target.path.startsWith('core/testing/') && !isTestFile(from) && !from.startsWith('core/testing/'))
    return 'core/testing is for tests only'
  const [area, part] = from.split('/')
  if (area === 'core') return forbiddenInCore(from, part ?? '', target.path) ?? relativeEscape(edge, from, target.path)
  if (area === 'services') return forbiddenInService(from, target.path) ?? relativeEscape(edge, from, target.path)
  if (area === 'cli') return forbiddenInCli(from, target.path)
  return undefined
}

function forbiddenPackage(from: string, target: ImportTarget & { name: string }): string | undefined {
  const home = packageHomes[target.name]
  if (home !== undefined && !from.startsWith(home) && !/^bench\/(?:peers|frameworks)\//.test(from))
    return `only ${home} imports ${target.name}`
  if (!from.startsWith('core/domain/') || isTestFile(from) || domainPackages.has(target.name)) return undefined
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

function forbiddenInCli(from: string, path: string): string | undefined {
  if (/^(?:cli|core\/domain|core\/platform)\//.test(path) || isTestFile(from)) return undefined
  if (cliExceptions.some((exception) => exception.from.test(from) && exception.to.test(path))) return undefined
  return 'the CLI is a client of the HTTP API (exceptions are listed in tests/house/layer-rules.ts)'
}

/** A relative path may not leave `core/<folder>` or `services/<name>`: other folders are named by `#…`. */
function relativeEscape(edge: ImportEdge, from: string, path: string): string | undefined {
  const tree = from.split('/').slice(0, 2).join('/')
  return edge.specifier.startsWith('.') && !path.startsWith(`${tree}/`)
    ? 'relative imports stay inside one folder; use #…'
    : undefined
}
