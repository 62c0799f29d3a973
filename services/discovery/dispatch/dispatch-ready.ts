import { AppError } from '#domain/error.ts'
import { mayGoOn, type ModelKind } from '#domain/model-kind.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { Log } from '#platform/log.ts'
import { attentionTo, keepOnly, type Attentions } from './attention.ts'
import { endStopped, type EndStoppedDeps } from './end-stopped.ts'
import { enqueueReady, type EnqueueDeps } from './enqueue-ready.ts'
import { shareWindow } from './share-window.ts'
import type { StageJobs } from './stage-jobs.ts'
import { sweepRun, type SweepDeps } from './sweep-run.ts'

export type DispatchDeps = {
  ledger: Pick<Ledger, 'activeRuns' | 'deactivate' | 'getRun' | 'relayResults'> &
    EndStoppedDeps['ledger'] &
    EnqueueDeps['ledger'] &
    SweepDeps['ledger']
  producer: SweepDeps['producer']
  stageJobs: StageJobs
  /** Slots of all live workers together: how many operations can run at once. */
  liveSlots(): Promise<number>
  attention: Attentions
  /** A run that was begun with another kind of model waits, but can be stopped. */
  modelKind?: ModelKind | undefined
  log: Pick<Log, 'warn'>
}

/** Twice the slots keeps every worker fed while the next round comes, and the queue short. */
const windowPerSlot = 2
/** What is enqueued before any worker has announced itself. */
const leastWindow = 8
const asideMs = 30_000
/** An entry of the index without a run: its acceptance was cut off half-way, or is under way. */
const acceptanceMs = 600_000

/**
 * One round of the dispatcher; answers how many runs are active. Results are passed on, what got lost is brought back,
 * every executing run gets its share of the window of enqueued operations, a run in another stage gets that stage's job,
 * a stopped one is ended. The ledger hands an operation out once, however many dispatchers there are, and job ids are
 * unique per dispatch.
 */
export async function dispatchReady(deps: DispatchDeps): Promise<number> {
  const active = await deps.ledger.activeRuns()
  keepOnly(active, deps.attention)
  if (active.length === 0) return 0
  const runs: Run[] = []
  for (const one of active) {
    if (attentionTo(one.runId, deps.attention).asideUntil > performance.now()) continue
    const run = await deps.ledger.getRun(one.runId).catch((error: unknown) => setAside(one, error, deps))
    if (run !== undefined) runs.push(run)
  }
  const window = Math.max(leastWindow, windowPerSlot * (await deps.liveSlots()))
  const shares = shareWindow(runs.filter((run) => isExecuting(run) && !isWaiting(run, deps)).map(demandOf), window)
  for (const run of runs) {
    await attend(run, shares.get(run.runId) ?? 0, deps).catch((error: unknown) => setAside(run, error, deps))
  }
  return active.length
}

function isExecuting(run: Run): boolean {
  return run.phase === 'execution' && run.stop === null && !isEnded(run.status)
}

function isWaiting({ request, stop }: Run, { modelKind }: DispatchDeps): boolean {
  return stop === null && !mayGoOn(request.labels, modelKind)
}

function demandOf({ runId, projectId, request, counts }: Run) {
  return { runId, projectId, priority: request.priority, demand: counts.ready + counts.dispatched + counts.running }
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
  attentionTo(run.runId, deps.attention).asideUntil = performance.now() + asideMs
  deps.log.warn('run not attended to', { run_id: run.runId, error })
}

/** Results go out before a finished run is composed, so that its end finds them all published. */
async function attend(run: Run, share: number, deps: DispatchDeps): Promise<void> {
  const attention = attentionTo(run.runId, deps.attention)
  await deps.ledger.relayResults(run.runId)
  if (isEnded(run.status)) return deps.ledger.deactivate(run)
  if (isWaiting(run, deps)) return
  await sweepRun(run, attention, deps)
  if (run.stop !== null) await endStopped(run, attention, deps)
  else if (run.phase === 'execution') await enqueueReady(run, share, attention, deps)
  else await deps.stageJobs.ensure(run)
}
