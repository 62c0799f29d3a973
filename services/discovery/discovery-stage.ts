import type { SkippedFile } from '#domain/code-node.ts'
import type { PlanningItem } from '#domain/agenda.ts'
import { AppError, asAppError } from '#domain/error.ts'
import type { NewEvent } from '#domain/event.ts'
import { shrinkHeap } from '#platform/collect-garbage.ts'
import type { ProjectId, RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { failRun, type StageEnd } from '#store/ledger/run-stage.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { BlobStore } from '#store/objects/blob-store.ts'
import { putEdgeList } from '#store/objects/edge-list.ts'
import { type FoundNodes, openNodeLists, putNodeList } from '#store/objects/node-list.ts'
import { contentOf } from '#store/objects/node-selection.ts'
import { type ObjectStore, undefinedWhenMissing } from '#store/objects/object-store.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import { parseJson } from '#domain/json.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import {
  discoverNodes,
  type Discovery,
  type DiscoveryDeps,
  type DiscoveryInput,
} from '#stages/discover/discover-nodes.ts'
import type { DiscoveryFilters } from '#stages/discover/choose-files.ts'
import { hiddenReason } from '#stages/discover/unwanted/unwanted-path.ts'
import type { PinnedBundle } from '#stages/plan/pin-bundles.ts'
import { composedFiles, findBaseList } from '#stages/snapshot/base-nodes.ts'
import { blockItem, planItem } from '#stages/plan/plan-item.ts'
import { beginConducted, type FoundCode, planRun, type PlanRunDeps } from '#stages/plan/plan-run.ts'
import { type IndexCache, indexName, type SourceBlob } from '#stages/discover/index-blobs.ts'
import { NodeIndex } from '#stages/discover/node-index.ts'

export type DiscoveryStageDeps = DiscoveryDeps &
  PlanRunDeps & {
    leaveOut: Pick<DiscoveryFilters, 'exclude' | 'maxFileBytes'>
    ledger: PlanRunDeps['ledger'] & Pick<Ledger, 'cancel' | 'getRun'>
    objects: ObjectStore
    blobs: BlobStore
    readSnapshot(projectId: string, snapshotId: string): Promise<SnapshotView>
    /** The named bundles, stored and pinned. AGENT_001 for one that is broken, INTAKE_006 for one that is not there. */
    pinBundles(projectId: string, names: readonly string[]): Promise<PinnedBundle[]>
    /** Bundles that were pinned before. STORE_003 for one that is not there. */
    readBundles(projectId: string, hashes: readonly string[]): Promise<PinnedBundle[]>
  }

const origin = { kind: 'discovery', id: 'discovery' } as const
/** Linking the edges between fewer nodes does not leave unusually much garbage: of 75,000 it is half of the heap. */
const manyNodes = 10_000

/**
 * Steps 3 to 5 of a run: nodes, bundles, plan. Each move has a name, so a repeated job continues where the last one stopped. Of a run with an objective
 * each item is planned when its conductor has dispatched it, while the run executes.
 */
export async function runDiscoveryStage(
  runId: RunId,
  deps: DiscoveryStageDeps,
  signal: AbortSignal,
): Promise<StageEnd> {
  const run = await deps.ledger.getRun(runId)
  const isNew = run.status === 'running' && ['discovery', 'planning'].includes(run.phase)
  if (!isNew && nextItem(run) === undefined) return 'idle'
  if (isNew && run.environment !== null) return 'idle' // it is planned, and its setup goes on
  try {
    const bundles = await bundlesOf(run, deps)
    const nodes = await nodesOf(run, bundles, deps, signal)
    const [base, snapshot] = [await baseOf(run, deps, signal), await snapshotOf(run, deps)]
    const found = { ...nodes, bundles, base, snapshot }
    if (!isNew) await planItems(run, found, deps, signal)
    else await (isConducted(run) ? beginConducted(run, found, deps) : planRun(run, found, deps, signal))
    return 'ok'
  } catch (error) {
    return failDiscovery(run, error, deps.ledger, signal)
  }
}

/** A retry that names what is to be done once more needs nobody to decide that. */
function isConducted({ request, wanted }: Run): boolean {
  return request.objective !== undefined && wanted?.operations === undefined && wanted?.codes === undefined
}

function nextItem({ status, phase, stop, conductor }: Run): PlanningItem | undefined {
  const executes = (status === 'running' || status === 'waiting') && phase === 'execution' && stop === null
  return executes && conductor?.kind === 'open' ? conductor.planning[0] : undefined
}

/** Plans the items that are dispatched, one after the other: each may do once more what those before it did. */
async function planItems(first: Run, found: FoundCode, deps: DiscoveryStageDeps, signal: AbortSignal): Promise<void> {
  let last: PlanningItem | undefined
  for (let run = first; ; run = await deps.ledger.getRun(first.runId)) {
    const next = nextItem(run)
    // Somebody else may have stopped the run, or have planned of it meanwhile: the job comes again.
    if (next === undefined || (next.item_id === last?.item_id && next.version === last.version)) return
    await planItem(run, next, found, deps, signal)
    last = next
  }
}

/** Ends as blocked the item that is planned now, or as failed a run that has none. A fault that may pass is thrown instead. */
export async function failDiscovery(
  run: Run,
  error: unknown,
  ledger: Pick<Ledger, 'cancel' | 'move' | 'noteItem'>,
  signal: AbortSignal,
): Promise<'failed'> {
  const { runId, generation } = run
  const next = nextItem(run)
  const phases = ['discovery', 'planning'] as const
  if (next === undefined) return failRun(runId, error, { phases, origin, signal, generation }, ledger)
  const fault = asAppError(error, 'TOOL_004', 'planning')
  if (fault.retry || signal.aborted) throw fault
  await blockItem(run, next, fault, { ledger })
  return 'failed'
}

/** Returns those the first delivery of this generation pinned, also when this process has newer ones. */
async function bundlesOf({ projectId, bundleHashes, phase, request }: Run, deps: DiscoveryStageDeps) {
  const isPinned = bundleHashes !== null && phase !== 'discovery'
  return !isPinned ? deps.pinBundles(projectId, request.agents) : deps.readBundles(projectId, bundleHashes)
}

/** Returns those the first delivery stored, also when this process has newer query packs; else finds, stores and announces them. */
async function nodesOf(
  run: Run,
  bundles: readonly PinnedBundle[],
  deps: DiscoveryStageDeps,
  signal: AbortSignal,
): Promise<FoundNodes & Pick<Discovery, 'facts'>> {
  const { projectId, runId, nodeListKey } = run
  // A reopened run still has those of the generation before.
  if (nodeListKey !== null && run.phase !== 'discovery') {
    const [lists, list] = [openNodeLists(deps.objects), { projectId, runId, hash: nodeListKey }]
    return {
      nodes: await Array.fromAsync(lists.all(list)),
      skipped: (await lists.read(list)).skippedFiles,
      facts: new Map(),
    }
  }
  const discovery = await discoverRun(run, deps, signal)
  const { nodes, edges = [], skipped, facts } = discovery
  if (nodes.length > manyNodes) shrinkHeap()
  const lists = {
    nodeListKey: await putNodeList(deps.objects, run, { nodes, skipped }),
    edgeListKey: await putEdgeList(deps.objects, run, { nodes, edges }),
  }
  await announce(run, discovery, lists, bundles, deps)
  return { nodes, skipped, facts }
}

async function baseOf(run: Run, deps: DiscoveryStageDeps, signal: AbortSignal): Promise<Set<string> | undefined> {
  const list = await findBaseList(run, deps)
  if (list !== undefined) {
    const known = new Set(await Array.fromAsync(openNodeLists(deps.objects).all(list), contentOf))
    const { include = [] } = run.request
    for (const files of await composedFiles(run, await snapshotOf(run, deps), deps)) {
      const { nodes } = await discoverFiles(run, files, { isPacked: true, include }, deps, signal)
      for (const node of nodes) known.add(contentOf(node))
    }
    return known
  }
  if (run.baseSnapshotId === null) return undefined
  const { nodes } = await discoverRun({ ...run, snapshotId: run.baseSnapshotId }, deps, signal)
  return new Set(nodes.map(contentOf))
}

async function discoverRun(run: Run, deps: DiscoveryStageDeps, signal: AbortSignal): Promise<Discovery> {
  const { files } = await snapshotOf(run, deps)
  const { paths = [], languages = [], nodeKinds = [], exclude = [], include = [] } = run.request
  const isPacked = run.request.repository !== undefined
  const left = [...(deps.leaveOut.exclude ?? []), ...exclude]
  return discoverFiles(run, files, { isPacked, paths, languages, nodeKinds, include, exclude: left }, deps, signal)
}

function snapshotOf({ runId, projectId, snapshotId }: Run, deps: DiscoveryStageDeps): Promise<SnapshotView> {
  if (snapshotId === null) throw new AppError('STORE_003', `run ${runId} has no snapshot`)
  return deps.readSnapshot(projectId, snapshotId)
}

async function discoverFiles(
  { projectId }: Run,
  files: DiscoveryInput['files'],
  filters: DiscoveryFilters,
  deps: DiscoveryStageDeps,
  signal: AbortSignal,
): Promise<Discovery> {
  const input = {
    files,
    filters: { ...deps.leaveOut, ...filters },
    read: (hash: string) => deps.blobs.get(projectId, hash),
    cache: nodeIndexCache(deps.objects, projectId),
  }
  return discoverNodes(input, deps, signal)
}

async function announce(
  run: Run,
  { nodes, edges = [], files, skipped, parsed, durationMs }: Discovery,
  lists: { nodeListKey: string; edgeListKey: string },
  bundles: readonly PinnedBundle[],
  { ledger }: DiscoveryStageDeps,
): Promise<void> {
  // A kind may be called `constructor`, a property that every plain object inherits.
  const kinds = new Map<string, number>()
  for (const { kind } of nodes) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  const discovered = {
    nodes: nodes.length,
    edges: edges.length,
    files,
    kinds: Object.fromEntries(kinds),
    parsed,
    skipped: skipped.length,
    skipped_files: firstSkipped(skipped.filter(({ reason }) => reason !== hiddenReason)),
  }
  const events: NewEvent[] = [
    { event: 'nodes.discovered', phase: 'discovery', origin, durationMs, data: discovered },
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
    generation: run.generation,
    command: 'discovery',
    set: { ...lists, nodes: nodes.length, files, bundles: JSON.stringify(bundles.map(({ hash }) => hash)) },
    events,
  })
}

const warningsPerEvent = 10

/** A bundle with faults is not pinned, so that those of a run are valid. */
function checkedView({ hash, bundle: { file, tools, warnings } }: PinnedBundle) {
  const first = warnings.slice(0, warningsPerEvent)
  return {
    name: file.name,
    hash,
    valid: true as const,
    tools: tools.length,
    warnings: warnings.length,
    first_warnings: first,
  }
}

/** So that a blob is parsed once per query pack, in whatever run it comes. */
export function nodeIndexCache(objects: Pick<ObjectStore, 'get' | 'put'>, projectId: ProjectId): IndexCache {
  const keyOf = (blob: SourceBlob) => objectKeys.nodeIndex(projectId, `${indexName(blob)}.json`)
  return {
    async get(blob) {
      const stored = await objects.get(keyOf(blob)).catch(undefinedWhenMissing)
      return stored && NodeIndex.safeParse(parseJson(Buffer.from(stored).toString())).data
    },
    async put(blob, index) {
      await objects.put(keyOf(blob), index, { contentType: 'application/json' })
    },
  }
}

const skippedPerEvent = 20

export function firstSkipped(skipped: readonly SkippedFile[]): SkippedFile[] {
  return skipped.slice(0, skippedPerEvent)
}
