import { newToken, type RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { operationJobId } from '#store/queues/catalog.ts'
import type { Producer } from '#store/queues/producer.ts'
import type { Taken } from '#store/ledger/dispatch.ts'
import type { ActiveRun } from '#store/ledger/read-runs.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { openingsOf, type Window } from './share-window.ts'

/** Holds what a dispatcher remembers of an active run between rounds. Losing it costs time, never work. */
export type DispatchState = {
  /** Is how the run looked in the last round, and when it began to (`performance.now()`). */
  moved: { look: string; at: number }
  /** The run is left alone until then (`performance.now()`). */
  pausedUntil: number
  /** The dispatch command that has no answer yet: sent again, it gives the same answer. */
  command: string | undefined
  /** Operations that the ledger has dispatched and the queue may not have. */
  unsent: readonly Queued[]
  /** Counts the operations that had ended in the last round, and about how many end in a round. */
  ended: { count: number; perRound: number } | undefined
  /** When the run is swept again (`performance.now()`); undefined before the first time. */
  sweepAt: number | undefined
  /** Is the place in the plan of a stopped run of the first operation that may not have been ended. */
  endedUpTo: number
}

type Queued = Taken & { priority: number }

export type DispatchStates = Map<RunId, DispatchState>

export type EnqueueDeps = { ledger: Pick<Ledger, 'dispatch'>; producer: Pick<Producer, 'addMany'> }

/** The queue gives out first what was lost, then what is the least part of its run's share. */
const firstPriority = 1
const priorityOfShare = 1000

/** Dispatches and enqueues ready operations of the run, up to its `share`, as the window allows; returns how many. */
export async function enqueueReady(
  run: Run,
  { share, window }: { share: number; window: Window },
  state: DispatchState,
  deps: EnqueueDeps,
): Promise<number> {
  const { runId, counts } = run
  await enqueue(run, state, deps)
  const underWay = underWayOf(run)
  const most = openingsOf({ share, underWay }, window)
  const waiting = counts.ready + counts.pending
  // With nothing open, results must still be passed on to dependents, which a dispatch does too. A run that waits for
  // people has no results to pass on, and may wait for days.
  const isDue = run.status !== 'waiting' && (underWay === 0 || (most > 0 && waiting > 0))
  if (state.command === undefined && !isDue) return 0
  state.command ??= newToken()
  const { command } = state
  // The share is looked at again in the step: another dispatcher may have filled it since.
  const { taken } = await deps.ledger.dispatch(runId, most, { command, window: share })
  state.command = undefined
  state.unsent = taken.map((operation, at) => ({ ...operation, priority: priorityOf(underWay + at, share) }))
  await enqueue(run, state, deps)
  return taken.length
}

export function underWayOf({ counts }: Run): number {
  return counts.dispatched + counts.running
}

/** A run that has just begun goes before one that has used all its share; that may be 0 by the time a lost answer comes. */
function priorityOf(used: number, share: number): number {
  const part = used < share ? used / share : 1
  return firstPriority + 1 + Math.floor(priorityOfShare * part)
}

/** Adds the jobs of the dispatched operations. Adding a job again changes nothing. */
async function enqueue(
  { runId, traceparent }: Run,
  state: DispatchState,
  { producer }: Pick<EnqueueDeps, 'producer'>,
): Promise<void> {
  if (state.unsent.length === 0) return
  const jobs = state.unsent.map(({ operationId, dispatch, priority }) => ({
    id: operationJobId({ runId, operationId, dispatch }),
    payload: { run_id: runId, operation_id: operationId, dispatch, traceparent },
    priority,
  }))
  await producer.addMany('operations', jobs)
  state.unsent = []
}

export type SweepDeps = {
  ledger: Pick<Ledger, 'dispatchedLongAgo' | 'requeue' | 'sweep'>
  producer: Pick<Producer, 'addMany' | 'discard' | 'missing'>
}

const sweepEveryMs = 1_000
/** A dispatch is older than this before its job is looked for: another dispatcher may be about to add it. */
const jobDueMs = 5_000
const slicePerSweep = 500

/**
 * Once a second, recovers the lost operations of a run, and ends those whose question was not answered in time, or whose item has no time left. Lost
 * are those whose worker fell silent, and dispatched ones without a job in the queue. The first time, every dispatched one is looked for: a dispatcher
 * that died had not added its last jobs.
 */
export async function sweepRun(run: Run, state: DispatchState, { ledger, producer }: SweepDeps): Promise<void> {
  const { sweepAt } = state
  if (sweepAt !== undefined && performance.now() < sweepAt) return
  const { runId, counts, conductor } = run
  if (counts.running + counts.pending + counts.waiting > 0 || conductor?.kind === 'open')
    while ((await ledger.sweep(runId)).left > 0);
  if (counts.dispatched > 0 && run.stop === null) {
    const agedMs = sweepAt === undefined ? 0 : jobDueMs
    const old = await ledger.dispatchedLongAgo(runId, { agedMs, limit: slicePerSweep })
    const byJob = new Map(old.map((taken) => [operationJobId({ runId, ...taken }), taken]))
    const missing = new Set(await producer.missing('operations', [...byJob.keys()]))
    const lost = [...byJob].flatMap(([job, taken]) => (missing.has(job) ? [taken] : []))
    if (lost.length > 0) {
      const again = await ledger.requeue(runId, lost)
      state.unsent = [...state.unsent, ...again.map((taken) => ({ ...taken, priority: firstPriority }))]
      await producer.discard('operations', [...missing])
    }
    await enqueue(run, state, { producer })
  }
  state.sweepAt = performance.now() + sweepEveryMs
}

export function dispatchStateOf(runId: RunId, states: DispatchStates): DispatchState {
  const initial = {
    moved: { look: '', at: 0 },
    pausedUntil: 0,
    command: undefined,
    unsent: [],
    ended: undefined,
    sweepAt: undefined,
    endedUpTo: 0,
  }
  return getOrMake(states, runId, () => initial)
}

export function forgetInactive(active: readonly ActiveRun[], states: DispatchStates): void {
  const ids = new Set(active.map(({ runId }) => runId))
  for (const runId of states.keys()) if (!ids.has(runId)) states.delete(runId)
}
