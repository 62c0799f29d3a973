import type { CodeNode, SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import type { NewEvent } from '#domain/event.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { failRun } from '#ledger/run-stage.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { BlobStore } from '#objects/blob-store.ts'
import { putEdgeList } from '#objects/edge-list.ts'
import { openNodeLists, putNodeList } from '#objects/node-list.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import type { SnapshotView } from '#objects/snapshot.ts'
import { parseJson } from '#domain/json.ts'
import { objectKeys } from '#objects/object-keys.ts'
import { discoverNodes, type Discovery, type DiscoveryDeps } from '../discover/discover-nodes.ts'
import type { DiscoveryFilters } from '../discover/choose-files.ts'
import { hiddenReason } from '../discover/unwanted/unwanted-path.ts'
import type { PinnedBundle } from '../pin-bundles.ts'
import { planRun, type PlanRunDeps } from '../plan/plan-run.ts'
import { type IndexCache, indexName, type SourceBlob } from '../discover/index-blobs.ts'
import { NodeIndex } from '../discover/node-index.ts'

export type DiscoveryStageDeps = DiscoveryDeps &
  PlanRunDeps & {
    /** What no run is worked on in. */
    leaveOut: Pick<DiscoveryFilters, 'exclude' | 'maxFileBytes'>
    ledger: Pick<Ledger, 'cancel' | 'getRun' | 'listOperations' | 'move' | 'plan'>
    objects: ObjectStore
    blobs: BlobStore
    readSnapshot(projectId: string, snapshotId: string): Promise<SnapshotView>
    /** The named bundles, stored and pinned. AGENT_001 for one that is broken, INTAKE_006 for one that is not there. */
    pinBundles(projectId: string, names: readonly string[]): Promise<PinnedBundle[]>
    /** Bundles that were pinned before. STORE_003 for one that is not there. */
    readBundles(projectId: string, hashes: readonly string[]): Promise<PinnedBundle[]>
  }

const origin = { kind: 'discovery', id: 'discovery' } as const

/** Steps 3 and 4 of a run: nodes, bundles, plan. Each move is named, so a repeated job goes on where the last one was. */
export async function runDiscoveryStage(runId: RunId, deps: DiscoveryStageDeps, signal: AbortSignal): Promise<void> {
  const run = await deps.ledger.getRun(runId)
  if (run.status !== 'running' || !['discovery', 'planning'].includes(run.phase)) return
  try {
    const bundles = await bundlesOf(run, deps)
    const nodes = await nodesOf(run, bundles, deps, signal)
    await planRun(run, { nodes, bundles }, deps, signal)
  } catch (error) {
    await failRun(runId, error, { phases: ['discovery', 'planning'], origin, signal }, deps.ledger)
  }
}

/** Those the first delivery pinned, also when this process has newer ones. */
async function bundlesOf({ projectId, bundleHashes, request }: Run, deps: DiscoveryStageDeps): Promise<PinnedBundle[]> {
  return bundleHashes === null ? deps.pinBundles(projectId, request.agents) : deps.readBundles(projectId, bundleHashes)
}

/** Those the first delivery stored, also when this process has newer query packs; else found, stored and announced. */
async function nodesOf(
  run: Run,
  bundles: readonly PinnedBundle[],
  deps: DiscoveryStageDeps,
  signal: AbortSignal,
): Promise<CodeNode[]> {
  const { projectId, runId, nodeListKey } = run
  if (nodeListKey !== null) {
    return Array.fromAsync(openNodeLists(deps.objects).all({ projectId, runId, hash: nodeListKey }))
  }
  const discovery = await discoverRun(run, deps, signal)
  await announce(run, discovery, await store(run, discovery, deps), bundles, deps)
  return discovery.nodes
}

type StoredLists = { nodeListKey: string; edgeListKey?: string }

/** The same nodes and edges again are the same objects. */
async function store(run: Run, { nodes, edges, skipped }: Discovery, { objects }: DiscoveryStageDeps) {
  const lists: StoredLists = { nodeListKey: await putNodeList(objects, run, { nodes, skipped }) }
  if (edges !== undefined) lists.edgeListKey = await putEdgeList(objects, run, { nodes, edges })
  return lists
}

async function discoverRun(run: Run, deps: DiscoveryStageDeps, signal: AbortSignal): Promise<Discovery> {
  if (run.snapshotId === null) throw new AppError('STORE_003', `run ${run.runId} has no snapshot`)
  const snapshot = await deps.readSnapshot(run.projectId, run.snapshotId)
  const { paths = [], languages = [], nodeKinds = [], exclude = [], include = [] } = run.request
  const { leaveOut } = deps
  const input = {
    files: snapshot.files,
    filters: {
      ...leaveOut,
      exclude: [...(leaveOut.exclude ?? []), ...exclude],
      paths,
      languages,
      nodeKinds,
      include,
    },
    read: (hash: string) => deps.blobs.get(run.projectId, hash),
    cache: nodeIndexCache(deps.objects, run.projectId),
  }
  return discoverNodes(input, deps, signal)
}

async function announce(
  run: Run,
  { nodes, edges, files, skipped, parsed, durationMs }: Discovery,
  lists: StoredLists,
  bundles: readonly PinnedBundle[],
  { ledger }: DiscoveryStageDeps,
): Promise<void> {
  // A kind may be called `constructor`, which every plain object seems to have.
  const kinds = new Map<string, number>()
  for (const { kind } of nodes) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  const found = {
    nodes: nodes.length,
    ...(edges && { edges: edges.length }),
    files,
    kinds: Object.fromEntries(kinds),
    parsed,
    skipped: skipped.length,
    skipped_files: firstSkipped(skipped.filter(({ reason }) => reason !== hiddenReason)),
  }
  const events: NewEvent[] = [
    { event: 'nodes.discovered', phase: 'discovery', origin, durationMs, data: found },
    {
      event: 'bundles.checked',
      phase: 'grail_check',
      origin: { kind: 'grail', id: 'check' },
      data: { bundles: bundles.map(checkedView) },
    },
  ]
  await ledger.move(run.runId, {
    from: [{ status: 'running', phase: 'discovery' }],
    to: { phase: 'planning' },
    command: 'discovery',
    set: { ...lists, nodes: nodes.length, files, bundles: JSON.stringify(bundles.map(({ hash }) => hash)) },
    events,
  })
}

/** Warnings of a bundle's check that one event holds; the pinned bundle has all. */
const warningsPerEvent = 10

/** A bundle with faults is not pinned, so that those of a run are valid. */
function checkedView({ hash, bundle: { file, tools, warnings } }: PinnedBundle) {
  const first = warnings.slice(0, warningsPerEvent)
  return { name: file.name, hash, valid: true, tools: tools.length, warnings: warnings.length, first_warnings: first }
}

/** Node indexes in the object store, so that a blob is parsed once per query pack, in whatever run it comes. */
export function nodeIndexCache(objects: Pick<ObjectStore, 'get' | 'put'>, projectId: ProjectId): IndexCache {
  const keyOf = (blob: SourceBlob) => objectKeys.nodeIndex(projectId, `${indexName(blob)}.json`)
  return {
    async get(blob) {
      try {
        return NodeIndex.safeParse(parseJson(Buffer.from(await objects.get(keyOf(blob))).toString())).data
      } catch (error) {
        if (error instanceof AppError && error.code === 'STORE_003') return undefined
        throw error
      }
    },
    async put(blob, index) {
      await objects.put(keyOf(blob), JSON.stringify(index), { contentType: 'application/json' })
    },
  }
}

const skippedPerEvent = 20

/** The first skipped files, as many as one event holds. */
export function firstSkipped(skipped: readonly SkippedFile[]): SkippedFile[] {
  return skipped.slice(0, skippedPerEvent)
}
