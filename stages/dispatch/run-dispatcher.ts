import { delay } from '#platform/clock.ts'
import { AppError, hasCode } from '#domain/error.ts'
import { mayGoOn, type ModelKind } from '#domain/model-kind.ts'
import { isEnded, isExecuting, roomOf, type Run } from '#domain/run.ts'
import { type Fleet, filledShare, leastWindow, operationsPerSlot } from '#store/ledger/fleet.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { type Log, openStoreUser, type StoreLog } from '#platform/log.ts'
import {
  type DispatchStates,
  dispatchStateOf,
  type EnqueueDeps,
  enqueueReady,
  forgetInactive,
  type SweepDeps,
  sweepRun,
  underWayOf,
} from './enqueue-ready.ts'
import type { AwayModels } from './away-models.ts'
import type { ProjectBudgets } from './project-budgets.ts'
import { shareWindow, type Window } from './share-window.ts'
import type { StageJobs } from './stage-jobs.ts'
import { endStopped, type EndStoppedDeps } from './end-stopped.ts'

const busyMs = 25
const idleMs = 150
/** A run is looked at again after this share of the time since it has moved: a stage that takes minutes is not asked 40 times a second. */
const quietShare = 0.05
const afterFailureMs = 1000
/** After an outage of the store, workers have this long to renew their leases before anything counts as lost. */
const leaseRenewalMs = 10_000

type RunDispatcherDeps = Omit<DispatchDeps, 'states'> & { log: StoreLog }

/** Runs the dispatcher's rounds until the returned function is called. A failed round is logged and tried again. */
export function runDispatcher(deps: RunDispatcherDeps): () => Promise<void> {
  const stop = new AbortController()
  const states: DispatchStates = new Map()
  const stores = openStoreUser(deps.log)
  const rest = (ms: number) => delay(ms, stop.signal).catch(() => undefined)
  const running = (async () => {
    while (!stop.signal.aborted) {
      try {
        const moving = await dispatchReady({ ...deps, states })
        stores.worked()
        await rest(moving > 0 ? restOf(states) : idleMs)
      } catch (error) {
        if (!stores.failed(error)) deps.log.warn('dispatcher round failed', { error })
        for (const state of states.values()) state.sweepAt = performance.now() + leaseRenewalMs
        await rest(afterFailureMs)
      }
    }
  })()
  return async () => {
    stop.abort()
    await running
  }
}

function restOf(states: DispatchStates): number {
  const movedAt = Math.max(...states.values().map(({ moved }) => moved.at))
  return Math.min(idleMs, Math.max(busyMs, quietShare * (performance.now() - movedAt)))
}

export type DispatchDeps = {
  ledger: Pick<Ledger, 'activeRuns' | 'countHeld' | 'deactivate' | 'getRun' | 'relayResults'> &
    EndStoppedDeps['ledger'] &
    EnqueueDeps['ledger'] &
    SweepDeps['ledger']
  producer: SweepDeps['producer']
  stageJobs: StageJobs
  fleet(): Promise<Fleet>
  awayModels: Pick<AwayModels, 'note'>
  budgets: ProjectBudgets
  /** Is told of each round: the active runs, and the window. */
  onRound?: ((seen: { runs: readonly Run[]; window: number; seconds: number }) => void) | undefined
  states: DispatchStates
  /** A run that was begun with another kind of model waits, but can be stopped. */
  modelKind?: ModelKind | undefined
  log: Pick<Log, 'warn'>
}

/** Rounds take longer than the shortest operations: what ends in so many rounds is queued in addition. */
const queuedRounds = 2
/** The mean is over so many rounds, about half a second. */
const meanRounds = 20
const pauseMs = 30_000
/** An index entry without a run: its acceptance is not finished, or was interrupted. */
const acceptanceMs = 600_000

/**
 * One round of the dispatcher; returns how many runs may move soon. Results are published, lost operations are recovered,
 * every executing run gets its share of the window of enqueued operations, a run in another stage gets that stage's job,
 * a stopped one is ended. With several dispatchers the ledger still hands an operation out once, under its own job id.
 */
export async function dispatchReady(deps: DispatchDeps): Promise<number> {
  const start = performance.now()
  const tell = (all: readonly Run[], window: number) =>
    deps.onRound?.({ runs: all, window, seconds: (performance.now() - start) / 1000 })
  const active = await deps.ledger.activeRuns()
  forgetInactive(active, deps.states)
  if (active.length === 0) {
    tell([], 0)
    return 0
  }
  const runs: Run[] = []
  for (const entry of active) {
    if (dispatchStateOf(entry.runId, deps.states).pausedUntil > performance.now()) continue
    const run = await deps.ledger.getRun(entry.runId).catch((error: unknown) => pauseRun(entry, error, deps))
    if (run === undefined) continue
    noteMoved(run, deps.states)
    runs.push(run)
  }
  await deps.budgets.count(runs)
  const fleet = await deps.fleet()
  const size = windowOf(fleet, noteEnded(runs, deps.states))
  const moving = runs.filter((run) => !needsOtherKind(run, deps))
  const sharing = moving.filter(isExecuting)
  const demands = await Promise.all(sharing.map((run) => demandOf(run, deps)))
  // What is stuck at a worker is under way, and keeps no other worker waiting.
  const shares = shareWindow(demands, size + fleet.stuck)
  const usedOf = (run: Run) => underWayOf(run) / (shares.get(run.runId) ?? 1)
  const open = moving.reduce((sum, run) => sum + underWayOf(run), 0)
  let underWay = Math.max(0, open - fleet.stuck)
  for (const run of runs.toSorted((left, right) => usedOf(left) - usedOf(right))) {
    const window = { size, underWay, operations: fleet.operations }
    const taken = await advanceRun(run, { share: shares.get(run.runId) ?? 0, window, fleet }, deps).catch(
      (error: unknown) => pauseRun(run, error, deps),
    )
    underWay += taken ?? 0
  }
  tell(runs, size)
  return runs.filter((run) => run.status !== 'waiting').length
}

/** Returns how many operations may be enqueued or running: what the models have room for, and what ends before the next round. */
export function windowOf(
  { operations, capacity = Infinity }: Pick<Fleet, 'operations' | 'capacity'>,
  endedPerRound: number,
): number {
  if (operations === 0 || capacity === 0) return leastWindow
  const open = Math.ceil(Math.min(filledShare * operations, operationsPerSlot * capacity))
  return open + Math.min(open, Math.ceil(queuedRounds * endedPerRound))
}

function noteMoved({ runId, status, phase, generation, counts, conductor }: Run, states: DispatchStates): void {
  const state = dispatchStateOf(runId, states)
  const look = JSON.stringify([status, phase, generation, counts, conductor])
  if (state.moved.look !== look) state.moved = { look, at: performance.now() }
}

/** Returns how many operations end in a round, in the mean: models that answer together end many at once, and then none. */
function noteEnded(runs: readonly Run[], states: DispatchStates): number {
  let perRound = 0
  for (const { runId, counts } of runs) {
    const state = dispatchStateOf(runId, states)
    const count = counts.succeeded + counts.unchanged + counts.failed + counts.blocked
    const { count: before, perRound: last } = state.ended ?? { count, perRound: 0 }
    state.ended = { count, perRound: last + (count - before - last) / meanRounds }
    perRound += state.ended.perRound
  }
  return perRound < 0.5 ? 0 : perRound
}

/** It was begun with another kind of model than this stack has, and goes on when it is started with that one. */
function needsOtherKind({ request, stop }: Run, { modelKind }: DispatchDeps): boolean {
  return stop === null && !mayGoOn(request.labels, modelKind)
}

/** Counts what a run could use. What is held takes nothing from the others; in a run that waits that is all that is ready. */
async function demandOf(run: Run, { ledger }: DispatchDeps) {
  const { runId, projectId, request, counts, status, away, usedBudgets } = run
  const held = away.length + usedBudgets.length === 0 || status === 'waiting' ? 0 : await ledger.countHeld(runId)
  const ready = status === 'waiting' ? 0 : Math.max(0, counts.ready - held)
  // So does what its budgets have no room for. Work without a model is among what is left when one is used up.
  const fitting =
    usedBudgets.length > 0 ? ready : Math.min(ready, Math.max(1, Math.ceil(roomOf(run) / (run.bound ?? 1))))
  return { runId, projectId, priority: request.priority, demand: fitting + underWayOf(run) }
}

/** A run made by newer code, or damaged, does not delay the others; an unreachable store ends the round. */
async function pauseRun(
  run: Pick<Run, 'runId' | 'projectId' | 'acceptedAt'>,
  error: unknown,
  deps: DispatchDeps,
): Promise<undefined> {
  if (error instanceof AppError && error.retry) throw error
  if (hasCode(error, 'RUN_001')) {
    if (Date.now() - run.acceptedAt > acceptanceMs) await deps.ledger.deactivate(run)
    return
  }
  dispatchStateOf(run.runId, deps.states).pausedUntil = performance.now() + pauseMs
  deps.log.warn('run not attended to', { run_id: run.runId, error })
}

/**
 * Results go out before a finished run is composed, so that its end finds them all published. Returns how many operations
 * were dispatched.
 */
async function advanceRun(
  run: Run,
  { fleet, ...part }: { share: number; window: Window; fleet: Fleet },
  deps: DispatchDeps,
): Promise<number> {
  const state = dispatchStateOf(run.runId, deps.states)
  await deps.ledger.relayResults(run.runId)
  if (isEnded(run.status)) await deps.ledger.deactivate(run)
  if (isEnded(run.status) || needsOtherKind(run, deps)) return 0
  await sweepRun(run, state, deps)
  if (run.stop === null) await deps.budgets.note(run)
  if (run.stop === null && run.phase === 'execution') {
    if (run.conductor?.kind === 'open') await deps.stageJobs.ensure(run)
    await deps.awayModels.note(run, fleet)
    return enqueueReady(run, part, state, deps)
  }
  await (run.stop === null ? deps.stageJobs.ensure(run) : endStopped(run, state, deps))
  return 0
}
