import type { Event } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { isEnded, type Run, type RunStatus } from '#domain/run.ts'
import { AppError } from '#domain/error.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { after as runAfter, delay } from '#platform/clock.ts'

export type NextEvents = {
  /** They are empty when there were none within the wait. */
  events: readonly Event[]
  /** It is the `after` of the next call. */
  after: number
  status: RunStatus
  /** The run has ended and these are its last events. */
  isLast: boolean
}

export type EventReader = {
  /** It waits up to `waitMs` for the first event after number `after`. */
  next(after: number, wait: { limit: number; waitMs: number; signal: AbortSignal }): Promise<NextEvents>
  leave(): void
}

export type EventReaders = {
  /** `run` must have been read just now. */
  join(run: Run): EventReader
}

/** One tailer per run serves all its readers. Nothing is queued for a reader: one that is behind the tailer's window reads pages by itself. */
export function openEventReaders(source: EventSource): EventReaders {
  const tailed = new Map<RunId, { tailer: EventTailer; readers: number }>()
  return {
    join(run) {
      const known = tailed.get(run.runId)
      // The tailer of a run that was reopened since has come to its end.
      const isBehind = known?.tailer.isOverBefore(run) === true
      const shared = known && !isBehind ? known : { tailer: startEventTailer(run, source), readers: 0 }
      shared.readers += 1
      tailed.set(run.runId, shared)
      return {
        next: (after, wait) => nextEvents(run.runId, after, wait, { tailer: shared.tailer, source }),
        leave() {
          shared.readers -= 1
          if (shared.readers > 0) return
          shared.tailer.stop()
          if (tailed.get(run.runId) === shared) tailed.delete(run.runId)
        },
      }
    },
  }
}

async function nextEvents(
  runId: RunId,
  after: number,
  { limit, waitMs, signal }: Parameters<EventReader['next']>[1],
  { tailer, source }: { tailer: EventTailer; source: EventSource },
): Promise<NextEvents> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const { last, status, window, windowAfter, isOver } = tailer.state()
    if (after < last) {
      const isInWindow = after >= windowAfter
      const events = isInWindow
        ? window.filter(({ seq }) => seq > after).slice(0, limit)
        : await source.readEvents(runId, { after, limit })
      return { events, after: events.at(-1)?.seq ?? last, status, isLast: false }
    }
    const leftMs = deadline - performance.now()
    if (isOver || leftMs <= 0 || signal.aborted) return { events: [], after, status, isLast: isOver }
    await tailer.change(leftMs, signal)
  }
}

export type EventSource = Pick<Ledger, 'getRun' | 'readEvents'>

type TailState = {
  readonly last: number
  /** It has every event after number `windowAfter`. */
  readonly window: readonly Event[]
  readonly windowAfter: number
  readonly status: RunStatus
  /** The run has ended, and `last` is its last event. */
  readonly isOver: boolean
}

type EventTailer = {
  /** A state is replaced, never changed. Throws the error that the tailer failed with. */
  state(): TailState
  /** Resolves at the next state, after `waitMs` or when `signal` is aborted, whichever is first. */
  change(waitMs: number, signal: AbortSignal): Promise<void>
  /** Is true when it has come to an end after which `run` has more events, or will have. */
  isOverBefore(run: Run): boolean
  stop(): void
}

const pollMs = 100
/** Readers wait so long after a store did not answer. */
const restMs = 1_000
const pageSize = 500
/** A reader that is further behind reads pages by itself. */
const maxWindow = 1_000

function startEventTailer(run: Run, source: EventSource): EventTailer {
  const { seq, status } = run
  const state = { last: seq, window: [], windowAfter: seq, status, isOver: isEnded(status) }
  const tail: Tail = { state, failure: undefined, waiting: new Set() }
  const stop = new AbortController()
  void follow(run.runId, tail, { source, signal: stop.signal })
  return {
    state() {
      if (tail.failure !== undefined) throw tail.failure
      return tail.state
    },
    change: (waitMs, signal) => waitAmong(tail.waiting, waitMs, signal),
    isOverBefore: ({ status: now, seq: known }) => tail.state.isOver && (!isEnded(now) || tail.state.last < known),
    stop: () => stop.abort(),
  }
}

type Tail = { state: TailState; failure: Error | undefined; waiting: Set<() => void> }

async function follow(
  runId: RunId,
  tail: Tail,
  { source, signal }: { source: EventSource; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted && !tail.state.isOver && tail.failure === undefined) {
    const before = tail.state
    let pauseMs = pollMs
    try {
      tail.state = await lookAgain(runId, before, { source, signal })
      if (tail.state.last - before.last >= pageSize) pauseMs = 0
    } catch (error) {
      if (error instanceof AppError && error.retry) pauseMs = restMs
      else tail.failure = error instanceof Error ? error : new Error(String(error))
    }
    const { last, isOver } = tail.state
    if (last !== before.last || isOver || tail.failure !== undefined) for (const wake of tail.waiting) wake()
    await delay(pauseMs, signal).catch(() => undefined)
  }
}

/** The status is read before the events, so that an ended run has no more events than these. */
async function lookAgain(
  runId: RunId,
  before: TailState,
  { source, signal }: { source: EventSource; signal: AbortSignal },
): Promise<TailState> {
  const { status } = await source.getRun(runId)
  if (signal.aborted) return before // the connection to Redis may be closed by now
  const events = await source.readEvents(runId, { after: before.last, limit: pageSize })
  const all = [...before.window, ...events]
  const dropped = Math.max(0, all.length - maxWindow)
  return {
    last: events.at(-1)?.seq ?? before.last,
    window: all.slice(dropped),
    windowAfter: all[dropped - 1]?.seq ?? before.windowAfter,
    status,
    // It may have been reopened after its status was read.
    isOver: isEnded(status) && events.length < pageSize && !events.some(({ event }) => event === 'run.reopened'),
  }
}

async function waitAmong(waiting: Set<() => void>, waitMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted || waitMs <= 0) return
  const woken = Promise.withResolvers<void>()
  const wake = () => woken.resolve()
  const cancelTimer = runAfter(waitMs, wake)
  waiting.add(wake)
  signal.addEventListener('abort', wake)
  try {
    await woken.promise
  } finally {
    cancelTimer()
    waiting.delete(wake)
    signal.removeEventListener('abort', wake)
  }
}
