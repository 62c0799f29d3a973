import { AppError } from '#domain/error.ts'
import { newToken, type RunId } from '#domain/ids.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { Taken } from '#ledger/dispatch.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { ActiveRun } from '#ledger/list-runs.ts'
import type { Log } from '#platform/log.ts'
import { operationJobId } from '#queues/catalog.ts'
import type { Producer } from '#queues/producer.ts'
import type { StageJobs } from './stage-jobs.ts'

export type DispatchDeps = {
  ledger: Pick<Ledger, 'activeRuns' | 'deactivate' | 'dispatch' | 'getRun' | 'lastDispatched' | 'relayResults'>
  producer: Pick<Producer, 'addMany'>
  stageJobs: StageJobs
  /** Slots of all live workers together: how many operations can run at once. */
  liveSlots(): Promise<number>
  /** What this dispatcher keeps in mind of the active runs, from round to round. */
  attention: Map<RunId, Attention>
  log: Pick<Log, 'warn'>
}

export type Attention = {
  /** The run is left alone until then (`performance.now()`). */
  asideUntil: number
  /** The dispatch whose answer is not there yet: the same command gives it again. */
  command: string | undefined
  /** What the ledger has handed out and the queue may not have. */
  unsent: readonly Taken[]
  /** The jobs a former dispatcher may have left out are in the queue. */
  takenOver: boolean
}

/** Twice the slots keeps every worker fed while the next round comes, and the queue short. */
const windowPerSlot = 2
/** What is enqueued before any worker has announced itself. */
const leastWindow = 8
const asideMs = 30_000
/** An entry of the index without a run: its acceptance was cut off half-way, or is under way. */
const acceptanceMs = 600_000

/**
 * One round of the dispatcher; answers how many runs are active. Results are passed on, every executing run gets an
 * equal share of the window of enqueued operations, and a run in another stage gets that stage's job. The ledger hands an
 * operation out once, however many dispatchers there are, and job ids are unique per dispatch.
 */
export async function dispatchReady(deps: DispatchDeps): Promise<number> {
  const active = await deps.ledger.activeRuns()
  keepOnly(active, deps.attention)
  if (active.length === 0) return 0
  const runs: Run[] = []
  for (const one of active) {
    if (attentionTo(one.runId, deps).asideUntil > performance.now()) continue
    const run = await deps.ledger.getRun(one.runId).catch((error: unknown) => setAside(one, error, deps))
    if (run !== undefined) runs.push(run)
  }
  const executing = runs.filter((run) => run.phase === 'execution').length
  const window = Math.max(leastWindow, windowPerSlot * (await deps.liveSlots()))
  const share = Math.max(1, Math.floor(window / Math.max(1, executing)))
  for (const run of runs) {
    await attend(run, share, deps).catch((error: unknown) => setAside(run, error, deps))
  }
  return active.length
}

function attentionTo(runId: RunId, { attention }: DispatchDeps): Attention {
  const known = attention.get(runId)
  if (known !== undefined) return known
  const fresh = { asideUntil: 0, command: undefined, unsent: [], takenOver: false }
  attention.set(runId, fresh)
  return fresh
}

function keepOnly(active: readonly ActiveRun[], attention: DispatchDeps['attention']): void {
  const ids = new Set(active.map(({ runId }) => runId))
  for (const runId of attention.keys()) if (!ids.has(runId)) attention.delete(runId)
}

/**
 * A run that cannot be attended to (made by newer code, damaged) holds up no other; a store that is away ends the
 * round.
 */
async function setAside(
  run: Pick<Run, 'runId' | 'projectId' | 'acceptedAt'>,
  error: unknown,
  deps: DispatchDeps,
): Promise<undefined> {
  if (error instanceof AppError && error.retry) throw error
  if (error instanceof AppError && error.code === 'RUN_001') {
    if (Date.now() - run.acceptedAt > acceptanceMs) await deps.ledger.deactivate(run)
    return
  }
  attentionTo(run.runId, deps).asideUntil = performance.now() + asideMs
  deps.log.warn('run not attended to', { run_id: run.runId, error })
}

/** Results go out before a finished run is composed, so that its end finds them all published. */
async function attend(run: Run, share: number, deps: DispatchDeps): Promise<void> {
  await deps.ledger.relayResults(run.runId)
  if (isEnded(run.status)) await deps.ledger.deactivate(run)
  else if (run.phase === 'execution') await enqueueReady(run, share, deps)
  else await deps.stageJobs.ensure(run)
}

async function enqueueReady(run: Run, share: number, deps: DispatchDeps): Promise<void> {
  const { runId, counts } = run
  const attention = attentionTo(runId, deps)
  if (!attention.takenOver) {
    attention.unsent = await deps.ledger.lastDispatched(runId)
    attention.takenOver = true
  }
  await enqueue(run, attention, deps)
  const underWay = counts.dispatched + counts.running
  const waiting = counts.ready + counts.pending
  // With nothing open at all, dependents are still to be told: that is the dispatch's business, too.
  const isDue = underWay < share && (waiting > 0 || underWay === 0)
  if (attention.command === undefined && !isDue) return
  attention.command ??= newToken()
  const { taken } = await deps.ledger.dispatch(runId, Math.max(0, share - underWay), attention.command)
  attention.command = undefined
  attention.unsent = taken
  await enqueue(run, attention, deps)
}

/** Adding a job again that is there, or done with, changes nothing. */
async function enqueue({ runId, traceparent }: Run, attention: Attention, { producer }: DispatchDeps): Promise<void> {
  if (attention.unsent.length === 0) return
  const jobs = attention.unsent.map(({ operationId, dispatch }) => ({
    id: operationJobId({ runId, operationId, dispatch }),
    payload: { v: 1 as const, run_id: runId, operation_id: operationId, dispatch, traceparent },
  }))
  await producer.addMany('operations', jobs)
  attention.unsent = []
}
