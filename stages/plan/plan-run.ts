import type { CodeNode, SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { type OperationId, type RunId, sha256 } from '#domain/ids.ts'
import { type OperationStatus, originalId, type PlannedOperation } from '#domain/operation.ts'
import type { Run, RunRequest } from '#domain/run.ts'
import type { RunEnvironment } from '#domain/setup.ts'
import type { Fleet } from '#store/ledger/fleet.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { maxSliceOperations } from '#store/ledger/plan.ts'
import { operationPages } from '#store/ledger/read-operations.ts'
import type { BlobStore } from '#store/objects/blob-store.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { type PlanSummary, putPlanSummary } from '#store/objects/plan-summary.ts'
import { openNodeLists } from '#store/objects/node-list.ts'
import { putRepositoryRules } from '#store/objects/repository-rules.ts'
import type { SnapshotView } from '#store/objects/snapshot.ts'
import { selectedNodes } from '#store/objects/node-selection.ts'
import type { SurveyDeps } from './survey/survey-repository.ts'
import { gateNotice } from './lacking-programs.ts'
import { findWork } from './node-work.ts'
import { surveysFor } from './run-surveys.ts'
import type { PinnedBundle } from './pin-bundles.ts'
import { type PlanChoices, planOperations } from './plan-operations.ts'
import { requireFitting } from './require-fitting.ts'
import { commonest, summarisePlan } from './summarise-plan.ts'

export type PlanRunDeps = SurveyDeps & {
  ledger: Pick<Ledger, 'getRun' | 'listOperations' | 'move' | 'plan'>
  objects: ObjectStore
  blobs: Pick<BlobStore, 'get'>
  readSnapshot(projectId: string, snapshotId: string): Promise<SnapshotView>
  /** The live workers; what they have decides what can be planned. */
  fleet(): Promise<Pick<Fleet, 'programs'>>
  /** Says which setups runs may have here (settings/setup-settings.ts). */
  setups: 'off' | 'asked' | 'on'
}

type Found = {
  nodes: readonly CodeNode[]
  bundles: readonly PinnedBundle[]
  /** The contents (store/objects/node-selection.ts) of the nodes that it is compared with; absent: all nodes are planned. */
  base: ReadonlySet<string> | undefined
}

const origin = { kind: 'discovery', id: 'discovery' } as const

/**
 * Step 4 of a run: surveys the repository if its bundles need that to find their work, plans an operation wherever there
 * is work, stores what workers and users need to know about it, and passes the plan to the ledger. A run without work, or in which
 * nothing has changed, continues to its (empty) patch. INTAKE_007 when no node is of the kinds and languages of the run's bundles.
 */
export async function planRun(run: Run, found: Found, deps: PlanRunDeps, signal: AbortSignal): Promise<void> {
  const { bundles, base } = found
  await requireFitting(found.nodes, bundles, run.request, () => repositoryPaths(run, deps))
  const { asked, nodes, unchanged } = await selectedNodes(run, found.nodes, { blobs: deps.blobs, base })
  const surveys = await surveysFor(run, { nodes, bundles }, deps, signal)
  // A fault in a node that has not changed is that node's, which is not planned, and not one of a node around it.
  const environment = environmentOf(run, bundles, deps)
  const programs = { ...(await deps.fleet()), environment, ...(await snapshotFiles(run, deps)) }
  const work = await findWork(asked, bundles, { ...surveys, programs })
  const retried = await operationsToRetry(run.request, deps.ledger)
  const planned = planOperations(nodes, bundles, { work, limit: run.request.limits.operations, ...retried })
  requirePlanned(planned.operations, retried.only)
  const gate = gateNotice(run.request.verify, programs) ?? []
  const notices = [...lostBase(run, base), ...(surveys.survey?.notices ?? []), ...work.notices].concat(gate)
  const left = base && { unchanged }
  const summary = summarisePlan({ nodes, ...left, bundles, planned, skipped: await skippedFiles(run, deps), notices })
  const keys = {
    planKey: await putPlanSummary(deps.objects, run, summary),
    ...(work.rules && { rulesKey: await putRepositoryRules(deps.objects, run, work.rules) }),
  }
  const operations = run.request.dryRun ? [] : planned.operations
  await handOver(run, { operations, keys, summary, environment }, deps)
}

/** Says why all nodes are planned although the request asks for those that have changed. */
function lostBase({ request: { repository } }: Run, base: Found['base']): string[] {
  const { runId, commit } = repository?.since ?? {}
  if (base !== undefined || (runId === undefined && commit === undefined)) return []
  const gone = [...(runId === undefined ? [] : [`run ${runId}`]), ...(commit === undefined ? [] : [`commit ${commit}`])]
  return [`${gone.join(' and ')} ${gone.length === 1 ? 'is' : 'are'} gone: all of the code counts as changed`]
}

/** Nothing of a fork is set up. That of a bundle counts only where setups are on; where they are off, that of the run, which intake has allowed before, has failed. */
function environmentOf(
  { request }: Run,
  bundles: readonly PinnedBundle[],
  { setups }: Pick<PlanRunDeps, 'setups'>,
): RunEnvironment | undefined {
  const ofBundle = bundles.find(({ bundle }) => bundle.file.setup !== undefined)?.bundle.file.setup
  const command = request.setup ?? (setups === 'on' ? ofBundle : undefined)
  if (command === undefined || request.repository?.isFork === true) return undefined
  if (setups !== 'off') return { kind: 'wanted', command }
  return { kind: 'failed', command, reason: 'setups are off by now (REMORA_SETUP)', output: '', durationMs: 0 }
}

async function snapshotFiles(
  { projectId, snapshotId }: Run,
  deps: PlanRunDeps,
): Promise<{ has(path: string): boolean }> {
  const view = snapshotId === null ? undefined : await deps.readSnapshot(projectId, snapshotId)
  return { has: (path) => view?.find(path) !== undefined }
}

async function repositoryPaths({ projectId, snapshotId }: Run, deps: PlanRunDeps): Promise<string[]> {
  if (snapshotId === null) return []
  return (await deps.readSnapshot(projectId, snapshotId)).files.map(({ path }) => path)
}

/** INTAKE_007 when a retry's agents take none of its operations any more. A retry for the patch alone has none. */
function requirePlanned(operations: readonly PlannedOperation[], only: ReadonlySet<string> | undefined): void {
  if (only === undefined || only.size === 0 || operations.length > 0) return
  const reason = 'none of the operations to retry is planned any more: the agents or their settings have changed'
  throw new AppError('INTAKE_007', reason)
}

async function skippedFiles(
  { projectId, runId }: Run,
  { ledger, objects }: PlanRunDeps,
): Promise<readonly SkippedFile[]> {
  const { nodeListKey } = await ledger.getRun(runId)
  if (nodeListKey === null) return []
  return (await openNodeLists(objects).read({ projectId, runId, hash: nodeListKey })).skippedFiles
}

type Keys = { planKey: string; rulesKey?: string }
type Plan = {
  operations: readonly PlannedOperation[]
  keys: Keys
  summary: PlanSummary
  environment: RunEnvironment | undefined
}

/** A run with a setup stays in this phase until that has ended (services/setup). */
async function handOver(
  run: Run,
  { operations, keys, summary, environment }: Plan,
  { ledger }: PlanRunDeps,
): Promise<void> {
  const planHash = sha256(operations.map(planLine).join('\n'))
  const slices = Math.max(1, Math.ceil(operations.length / maxSliceOperations))
  for (let slice = 0; slice < slices; slice++) {
    const part = operations.slice(slice * maxSliceOperations, (slice + 1) * maxSliceOperations)
    const answer = await ledger.plan(run.runId, { slice, operations: part, last: slice === slices - 1, planHash })
    if (answer === 'refused') return // it was stopped, or has ended
  }
  const data = { operations: operations.length, ...(run.request.dryRun ? { dry_run: true } : {}), ...planView(summary) }
  const isEmpty = operations.length === 0
  const waits = !isEmpty && environment?.kind === 'wanted'
  await ledger.move(run.runId, {
    from: [{ status: 'running', phase: 'planning' }],
    to: waits ? {} : { phase: isEmpty ? 'review' : 'execution' },
    command: 'plan',
    set: { ...keys, ...(environment && !isEmpty && { environment: JSON.stringify(environment) }) },
    events: [{ event: 'run.planned', phase: 'planning', origin, data }],
  })
}

/** The most reasons and notices in one event; the stored plan has all. */
const namedInEvent = 20

function planView({ agents, nodesLookedAt, beyondLimit, unchanged, notices }: PlanSummary) {
  const views = Object.entries(agents).map(([name, { lookedAt, planned, mechanical, skipped: all }]) => {
    const skipped = commonest(all, namedInEvent).map(({ reason, count }) => ({ reason, count }))
    return [name, { looked_at: lookedAt, planned, mechanical, skipped }] as const
  })
  return {
    nodes_looked_at: nodesLookedAt,
    beyond_limit: beyondLimit,
    ...(unchanged === undefined ? {} : { unchanged }),
    looked_at: Object.values(agents).reduce((sum, { lookedAt }) => sum + lookedAt, 0),
    agents: Object.fromEntries(views),
    notices: notices.slice(0, namedInEvent),
  }
}

function planLine({ operationId, bundleHash, priority, after }: PlannedOperation): string {
  return [operationId, bundleHash, priority, ...after].join(' ')
}

const well = new Set<string>(['succeeded', 'unchanged'])

/**
 * The operations a retry is about: those its request names, those that failed with one of its codes, else those that did
 * not end well in the nearest run before it whose plan was complete; retries in between without a complete plan may name
 * operations or codes of their own. None: all operations, for a run that is no retry, or when no run before it was planned
 * completely. INTAKE_007 when none failed with the codes.
 */
async function operationsToRetry(
  { retryOf, operations, codes }: Pick<RunRequest, 'retryOf' | 'operations' | 'codes'>,
  ledger: Pick<Ledger, 'getRun' | 'listOperations'>,
): Promise<Pick<PlanChoices, 'only' | 'unwell'>> {
  if (operations !== undefined) return { only: new Set(operations) }
  if (retryOf === undefined) return {}
  const former = await ledger.getRun(retryOf)
  if (codes === undefined && !former.isPlanned) return operationsToRetry(former.request, ledger)
  const unwell = await notEndedWell(retryOf, ledger)
  if (codes === undefined) return { only: new Set(unwell.keys()) }
  const failed = [...unwell].filter(([, { failedWith }]) => failedWith !== undefined && codes.includes(failedWith))
  if (failed.length > 0) return { only: new Set(failed.map(([id]) => id)), unwell }
  throw new AppError('INTAKE_007', `no operation of run "${retryOf}" failed with ${codes.join(' or ')}`)
}

type Unwell = { status: OperationStatus; failedWith: string | undefined }

async function notEndedWell(runId: RunId, ledger: Pick<Ledger, 'listOperations'>): Promise<Map<OperationId, Unwell>> {
  const found = new Map<OperationId, Unwell>()
  for await (const page of operationPages(ledger, runId)) {
    for (const operation of page) {
      const { status, outcome } = operation
      const failedWith = status === 'failed' || status === 'blocked' ? outcome?.errorCode : undefined
      // A retry plans the operations of the snapshot, and repeats again where these collide again.
      if (!well.has(status)) found.set(originalId(operation), { status, failedWith })
    }
  }
  return found
}
