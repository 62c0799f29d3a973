import type { Event } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import type { Run, RunStatus } from '#domain/run.ts'
import { startEventTailer, type EventSource, type EventTailer, type TailState } from './event-tailer.ts'

export type NextEvents = {
  /** In order; empty when the wait was over before there were any. */
  events: readonly Event[]
  /** Number of the last event that was looked at: where the next call goes on. */
  after: number
  status: RunStatus
  /** The run has ended and these were its last events. */
  isLast: boolean
}

export type EventReader = {
  /** The events after number `after`, at most `limit`, as soon as there are any; waits up to `waitMs` for the first. */
  next(after: number, wait: { limit: number; waitMs: number; signal: AbortSignal }): Promise<NextEvents>
  /** To be called once, when no more is wanted. */
  leave(): void
}

export type EventReaders = {
  /** A reader of `run`, which is read just now. */
  join(run: Run): EventReader
}

/**
 * Readers of runs' events, with one tailer per run however many there are. A reader takes what it wants when it wants it
 * and nothing is kept for it: one that has fallen out of the tailer's window reads pages by itself until it has caught
 * up.
 */
export function openEventReaders(source: EventSource): EventReaders {
  const tailed = new Map<RunId, { tailer: EventTailer; readers: number }>()
  return {
    join(run) {
      const shared = tailed.get(run.runId) ?? { tailer: startEventTailer(run, source), readers: 0 }
      shared.readers += 1
      tailed.set(run.runId, shared)
      return {
        next: (after, wait) => nextEvents(run.runId, after, wait, { tailer: shared.tailer, source }),
        leave() {
          shared.readers -= 1
          if (shared.readers > 0) return
          shared.tailer.stop()
          tailed.delete(run.runId)
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
    const state = tailer.state()
    const { last, status } = state
    if (after < last) {
      const events = eventsAfter(after, state)?.slice(0, limit) ?? (await source.readEvents(runId, { after, limit }))
      return { events, after: events.at(-1)?.seq ?? last, status, isLast: false }
    }
    const leftMs = deadline - performance.now()
    if (state.isOver || leftMs <= 0 || signal.aborted) return { events: [], after, status, isLast: state.isOver }
    await tailer.change(leftMs, signal)
  }
}

/** Undefined when the window begins further on. */
function eventsAfter(after: number, { window, windowAfter }: TailState): readonly Event[] | undefined {
  return after < windowAfter ? undefined : window.filter(({ seq }) => seq > after)
}
