import { AppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { Log } from '#platform/log.ts'
import { operationJobId } from '#queues/catalog.ts'
import type { Producer } from '#queues/producer.ts'
import type { StageJobs } from './stage-jobs.ts'

export type DispatchDeps = {
  ledger: Pick<Ledger, 'activeRuns' | 'dispatch' | 'getRun' | 'relayResults'>
  producer: Pick<Producer, 'addMany'>
  stageJobs: StageJobs
  /** Slots of all live workers together: how many operations can run at once. */
  liveSlots(): Promise<number>
  /** Runs that could not be attended to, and until when (`performance.now()`) they are left alone. */
  aside: Map<RunId, number>
  log: Pick<Log, 'warn'>
}

/** Twice the slots keeps every worker fed while the next round comes, and the queue short. */
const windowPerSlot = 2
/** What is enqueued before any worker has announced itself. */
const leastWindow = 8
const asideMs = 30_000

/**
 * One round of the dispatcher; answers how many runs are active. Results are passed on, every run gets an equal share of
 * the window of enqueued operations, and a run in another stage gets that stage's job. Safe to run twice, or in two
 * processes: the ledger hands an operation out once, and job ids are unique per dispatch.
 */
export async function dispatchReady(deps: DispatchDeps): Promise<number> {
  const runs = await deps.ledger.activeRuns()
  if (runs.length === 0) return 0
  const window = Math.max(leastWindow, windowPerSlot * (await deps.liveSlots()))
  const share = Math.max(1, Math.floor(window / runs.length))
  for (const { runId } of runs) {
    if ((deps.aside.get(runId) ?? 0) > performance.now()) continue
    await attend(runId, share, deps).catch((error: unknown) => setAside(runId, error, deps))
  }
  return runs.length
}

/** A run that cannot be attended to (made by newer code, damaged) holds up no other; a store that is away ends the round. */
function setAside(runId: RunId, error: unknown, { aside, log }: DispatchDeps): void {
  if (error instanceof AppError && error.retry) throw error
  aside.set(runId, performance.now() + asideMs)
  log.warn('run not attended to', { run_id: runId, error })
}

/** Results go out before a finished run is composed, so that its end finds them all published. */
async function attend(runId: RunId, share: number, deps: DispatchDeps): Promise<void> {
  const run = await deps.ledger.getRun(runId)
  await deps.ledger.relayResults(runId)
  if (run.phase === 'execution') await enqueueReady(run, share, deps)
  else await deps.stageJobs.ensure(run)
}

async function enqueueReady(run: Run, share: number, { ledger, producer }: DispatchDeps): Promise<void> {
  const { runId, counts, traceparent } = run
  const free = share - counts.dispatched - counts.running
  if (free <= 0 || counts.ready + counts.pending === 0) return
  const { taken } = await ledger.dispatch(runId, free)
  const jobs = taken.map(({ operationId, dispatch }) => ({
    id: operationJobId({ runId, operationId, dispatch }),
    payload: { v: 1 as const, run_id: runId, operation_id: operationId, dispatch, traceparent },
  }))
  await producer.addMany('operations', jobs)
}
