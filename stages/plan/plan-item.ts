import type { AgendaState, ItemId, ItemState, PlanningItem, Where } from '#domain/agenda.ts'
import { awaitedBundles } from '#domain/agent-bundle.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import type { NewEvent } from '#domain/event.ts'
import { operationId, type OperationId, recordId } from '#domain/ids.ts'
import { isEndedOperation, type PlannedOperation } from '#domain/operation.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import type { Run } from '#domain/run.ts'
import { putItemReads } from '#store/objects/stored-records.ts'
import type { PlanSummary } from '#store/objects/plan-summary.ts'
import {
  getRepositoryRules,
  joinRules,
  putRepositoryRules,
  type RepositoryRules,
} from '#store/objects/repository-rules.ts'
import { asRecords, type KnownWork, type KnownWorks, knownWorks } from './next-generation.ts'
import type { PinnedBundle } from './pin-bundles.ts'
import { findPlan, type FoundCode, namedInEvent, planSlices, type PlanRunDeps } from './plan-run.ts'
import { commonest } from './summarise-plan.ts'

const origin = { kind: 'discovery', id: 'discovery' } as const

/**
 * Makes operations of an item of the agenda as of any plan, by its bundle alone and on the nodes of its `where`; or only counts them, as for every item of
 * a dry run. A work that was done before is done once more by the next record, unless this very item has done it well; one that another
 * item works on is left to that. What depends on other items starts from their changes. Killed anywhere, it is repeated to the same.
 */
export async function planItem(
  run: Run,
  next: PlanningItem,
  found: FoundCode,
  deps: PlanRunDeps,
  signal: AbortSignal,
): Promise<void> {
  const { runId, request } = run
  const { item_id: itemId, version } = next
  const agenda = await deps.ledger.readAgenda(runId)
  const item = agenda?.state.items.find((one) => one.item_id === itemId)
  if (agenda === undefined || item === undefined) throw new AppError('RUN_004', `the agenda has no item "${itemId}"`)
  const pinned = capabilityOf(item, found.bundles)
  const nodes = found.nodes.filter(isIn(item.where))
  const { known } = await knownWorks(runId, next.generation, deps.ledger)
  const ofItem = { ...found, nodes, bundles: [pinned] }
  const { own, workOf } = worksOf(item, pinned, known)
  const undone = new Set<OperationId>()
  const choices = { limit: limitOf(item, pinned, run) }
  const may = mayDo(itemId, own, undone)
  const how = { environment: run.environment ?? undefined, choices, may: (id: OperationId) => may(workOf(id) ?? id) }
  const { planned, work, summary, unseen } = await findPlan(run, ofItem, how, deps, signal)
  // An item with as many operations as its bundle says that it needs leaves nothing to do on other nodes.
  const isEnough = pinned.bundle.file.item_operations !== undefined && item.budget.operations === undefined
  const left = undone.size + (isEnough ? 0 : planned.beyondLimit + unseen)
  const reads = await putItemReads(deps.objects, run, { v: 1, paths: pathsRead(pinned, nodes, planned.operations) })
  if (next.estimate || request.dryRun) {
    const tokens = summary.agents[item.capability]?.estimatedTokens ?? 0
    const estimate = { operations: planned.operations.length, tokens }
    return void (await deps.ledger.noteItem(runId, { itemId, version, reads, estimate }))
  }
  if (work.rules !== undefined) await keepRules(run, { itemId, version, rules: work.rules }, deps)
  const generation = next.generation ?? (known.size === 0 ? run.generation : run.generation + 1)
  const basis = openBasis(pinned, { ids: dependenciesOf(item, agenda.state), known })
  const idOf = (id: OperationId) => workOf(id) ?? (known.has(id) ? recordId(id, generation) : id)
  const operations = asRecords(planned.operations.map(withIds(idOf)), own, { generation }).map(basis)
  const started = startedEvent(item, { operations, generation, left, summary })
  await planSlices(
    runId,
    { operations, generation, item: { itemId, version, reads, objective: item.objective, left, started } },
    deps.ledger,
  )
}

/** Ends the planning of an item for a fault of its own, and tells its conductor why. A fault that may pass is thrown instead. */
export async function blockItem(
  { runId }: Pick<Run, 'runId'>,
  { item_id: itemId, version }: PlanningItem,
  { code, message }: Pick<AppError, 'code' | 'message'>,
  { ledger }: { ledger: Pick<PlanRunDeps['ledger'], 'noteItem'> },
): Promise<void> {
  const fault = { error_code: code, reason: message.slice(0, maxReason) }
  const event: NewEvent = {
    event: 'item.blocked',
    phase: 'execution',
    status: 'error',
    errorCode: code,
    origin,
    data: { item_id: itemId, ...fault },
  }
  await ledger.noteItem(runId, { itemId, version, fault, events: [event] })
}

const maxReason = 2_000

function capabilityOf({ item_id: id, capability }: ItemState, bundles: readonly PinnedBundle[]): PinnedBundle {
  const pinned = bundles.find(({ bundle }) => bundle.file.name === capability)
  if (pinned !== undefined) return pinned
  const names = bundles.map(({ bundle }) => bundle.file.name).join(', ')
  throw new AppError('INTAKE_006', `item "${id}" names the agent "${capability}", the run has ${names}`)
}

/** An absent list leaves nothing out; an empty one of paths, names, languages or kinds neither. */
function isIn({ paths, names, languages = [], kinds = [], node_ids: ids }: Where): (node: CodeNode) => boolean {
  const [hasPath, hasName] = [matching(paths), matching(names)]
  const [ofLanguage, ofKind, named] = [new Set(languages), new Set<string>(kinds), ids && new Set(ids)]
  return ({ nodeId, path, qualifiedName, language, kind }) =>
    hasPath(path) &&
    hasName(qualifiedName) &&
    (ofLanguage.size === 0 || ofLanguage.has(language)) &&
    (ofKind.size === 0 || ofKind.has(kind)) &&
    (named === undefined || named.has(nodeId))
}

function matching(globs: readonly string[] = []): (text: string) => boolean {
  return globs.length === 0 ? () => true : pathGlobs(globs)
}

/** The limit of a run is for all of its items together. */
function limitOf({ budget }: ItemState, { bundle }: PinnedBundle, { request, counts }: Run): number | undefined {
  const most = request.limits.operations
  const planned = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const limits = [
    budget.operations ?? bundle.file.item_operations,
    most === undefined ? undefined : Math.max(0, most - planned),
  ]
  const given = limits.filter((limit) => limit !== undefined)
  return given.length === 0 ? undefined : Math.min(...given)
}

/**
 * Says which works the item may find done. Of a bundle with `item_operations` another item's are none of its business: its question about a
 * file is a work of its own, which takes the place of nothing. `workOf`: the work of the item that has this id by its node and bundle.
 */
function worksOf({ item_id: itemId }: ItemState, { bundle }: PinnedBundle, known: KnownWorks) {
  if (bundle.file.item_operations === undefined)
    return { own: known, workOf: (id: OperationId) => (known.has(id) ? id : undefined) }
  const own = new Map([...known].filter(([, work]) => work.itemId === itemId))
  const ids = new Map([...own].map(([id, work]) => [operationId(work.node.nodeId, work.bundle), id]))
  return { own, workOf: (id: OperationId) => ids.get(id) }
}

function withIds(idOf: (id: OperationId) => OperationId) {
  return ({ operationId: id, after, ...rest }: PlannedOperation): PlannedOperation => {
    return { ...rest, operationId: idOf(id), after: after.map(idOf) }
  }
}

/** `undone`: takes what is left to another item that has not done it yet. */
function mayDo(itemId: ItemId, known: KnownWorks, undone: Set<OperationId>) {
  return (id: OperationId): string | undefined => {
    const before = known.get(id)
    if (before === undefined) return undefined
    const { status, outcome } = before
    const isDone = (status === 'succeeded' || status === 'unchanged') && outcome?.leavesWork === undefined
    if (!isEndedOperation(status)) {
      undone.add(id)
      return 'another item of the agenda works on it'
    }
    return isDone && before.itemId === itemId ? 'this item has done it before' : undefined
  }
}

/** Returns the files that operations work on. One that looks around for its item may read them all. */
function pathsRead(
  { bundle }: PinnedBundle,
  nodes: readonly CodeNode[],
  operations: readonly PlannedOperation[],
): string[] {
  const read = bundle.file.item_operations === undefined ? operations.map(({ node }) => node) : nodes
  return [...new Set(read.map(({ path }) => path))].toSorted()
}

/** Returns all items that this one depends on, and those that these depend on. */
function dependenciesOf(item: ItemState, { items }: AgendaState): ReadonlySet<ItemId> {
  const all = new Set<ItemId>()
  const open = [...item.depends_on]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (all.has(id)) continue
    all.add(id)
    open.push(...(items.find((one) => one.item_id === id)?.depends_on ?? []))
  }
  return all
}

/** Has an operation start from what earlier items have changed in its node, around it and in it, where it depends on these. */
function openBasis({ bundle }: PinnedBundle, { ids, known }: { ids: ReadonlySet<ItemId>; known: KnownWorks }) {
  const before = new Set(awaitedBundles(bundle.file))
  const counts = ({ status, itemId, bundle: name }: KnownWork) =>
    status === 'succeeded' && ((itemId !== null && ids.has(itemId)) || before.has(name))
  const byPath = Map.groupBy(known.values().filter(counts), ({ node }) => node.path)
  return (operation: PlannedOperation): PlannedOperation => {
    const { node, repeats } = operation
    const bases = (byPath.get(node.path) ?? []).filter((work) => work.operationId !== repeats?.supersedes)
    const near = bases.filter((work) => work.node.startByte < node.endByte && node.startByte < work.node.endByte)
    return near.length === 0 ? operation : { ...operation, startsFrom: near.map((work) => work.operationId) }
  }
}

/** What workers read of the repository's rules is that of all items so far: operations of earlier ones may still run. */
async function keepRules(
  run: Run,
  { itemId, version, rules }: { itemId: ItemId; version: number; rules: RepositoryRules },
  { ledger, objects }: PlanRunDeps,
): Promise<void> {
  const { runId, projectId, rulesKey: hash } = run
  const before = hash === null ? undefined : await getRepositoryRules(objects, { projectId, runId, hash })
  const rulesKey = await putRepositoryRules(objects, run, before === undefined ? rules : joinRules(before, rules))
  await ledger.move(runId, {
    from: [{ status: 'running' }, { status: 'waiting' }],
    to: {},
    command: `rules of ${itemId} ${version}`,
    set: { rulesKey },
    events: [],
  })
}

type Started = { operations: readonly PlannedOperation[]; generation: number; left: number; summary: PlanSummary }

function startedEvent(item: ItemState, { operations, generation, left, summary }: Started): NewEvent {
  const plan = summary.agents[item.capability]
  return {
    event: 'item.started',
    phase: 'execution',
    origin,
    data: {
      item_id: item.item_id,
      capability: item.capability,
      operations: operations.length,
      generation,
      looked_at: plan?.lookedAt ?? 0,
      skipped: commonest(plan?.skipped ?? [], namedInEvent).map(({ reason, count }) => ({ reason, count })),
      left,
      notices: summary.notices.slice(0, namedInEvent),
    },
  }
}
