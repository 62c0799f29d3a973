import type { Event, EventCategory } from '#domain/event.ts'
import { isEnded, type Run, type RunStatus } from '#domain/run.ts'
import type { EventReaders } from './event-readers.ts'
import type { EventSource } from './event-tailer.ts'

export type EventQuery = {
  after: number
  limit: number
  category: EventCategory | undefined
  /** How long to wait for the first event when there is none yet. */
  waitMs: number
}

/** `nextAfter` is the last event looked at, matching or not: where the next page begins. */
export type EventPage = { events: Event[]; nextAfter: number; runStatus: RunStatus }

const scanSize = 500
/** Pages looked through for a category before the answer is given out, short or empty. */
const maxScans = 8

/**
 * Events of `run`, which is read just now, after number `after`, in order. An ended run with an empty page has no more.
 * Without events it waits up to `waitMs`, and answers at once when the run has ended or `signal` is aborted.
 */
export async function readEventPage(
  run: Run,
  query: EventQuery,
  deps: { source: Pick<EventSource, 'readEvents'>; readers: EventReaders },
  signal: AbortSignal,
): Promise<EventPage> {
  const page = await scan(run, query, deps.source)
  if (page.events.length > 0 || isEnded(run.status) || query.waitMs === 0) return { ...page, runStatus: run.status }
  return waitForEvents(run, { ...query, after: page.nextAfter }, deps.readers, signal)
}

async function scan(
  { runId }: Run,
  { category, limit, after }: EventQuery,
  source: Pick<EventSource, 'readEvents'>,
): Promise<Omit<EventPage, 'runStatus'>> {
  const events: Event[] = []
  let nextAfter = after
  for (let scans = 0; scans < maxScans; scans += 1) {
    const size = category === undefined ? limit : scanSize
    const found = await source.readEvents(runId, { after: nextAfter, limit: size })
    for (const event of found) {
      nextAfter = event.seq
      if (category === undefined || event.category === category) events.push(event)
      if (events.length === limit) return { events, nextAfter }
    }
    if (found.length < size) break
  }
  return { events, nextAfter }
}

async function waitForEvents(
  run: Run,
  { after, limit, category, waitMs }: EventQuery,
  readers: EventReaders,
  signal: AbortSignal,
): Promise<EventPage> {
  const deadline = performance.now() + waitMs
  const reader = readers.join(run)
  try {
    for (let nextAfter = after; ;) {
      const next = await reader.next(nextAfter, { limit, waitMs: deadline - performance.now(), signal })
      nextAfter = next.after
      const events = next.events.filter((event) => category === undefined || event.category === category)
      const isOver = next.isLast || signal.aborted || performance.now() >= deadline
      if (events.length > 0 || isOver) return { events, nextAfter, runStatus: next.status }
    }
  } finally {
    reader.leave()
  }
}
