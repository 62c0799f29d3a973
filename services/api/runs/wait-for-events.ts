import type { Event, EventCategory } from '#domain/event.ts'
import { isEnded, type RunStatus } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { delay } from '#platform/clock.ts'

/** What `readEventPage` needs of the ledger. */
export type EventSource = Pick<Ledger, 'getRun' | 'readEvents'>

export type EventQuery = {
  after: number
  limit: number
  category: EventCategory | undefined
  /** How long to wait for the first event when there is none yet. */
  waitMs: number
}

/** `nextAfter` is the last event looked at, matching or not: where the next page begins. */
export type EventPage = { events: Event[]; nextAfter: number; runStatus: RunStatus }

const pollMs = 200
const scanSize = 500
/** Pages looked through for a category before the answer is given out, short or empty. */
const maxScans = 8

/**
 * Events after `after`, in order. `runStatus` is read before the events, so an ended run with an empty page has no more.
 * Without events it waits up to `waitMs`, and answers at once when the run has ended or `signal` is aborted.
 */
export async function readEventPage(
  runId: string,
  query: EventQuery,
  source: EventSource,
  signal: AbortSignal,
): Promise<EventPage> {
  const deadline = performance.now() + query.waitMs
  for (let after = query.after; ;) {
    const { status } = await source.getRun(runId)
    const page = await scan(runId, { ...query, after }, source)
    after = page.nextAfter
    const leftMs = deadline - performance.now()
    if (page.events.length > 0 || isEnded(status) || leftMs <= 0) return { ...page, runStatus: status }
    await delay(Math.min(pollMs, leftMs), signal).catch(() => {}) // an abort is looked at below
    if (signal.aborted) return { ...page, runStatus: status }
  }
}

async function scan(runId: string, query: EventQuery, source: EventSource): Promise<Omit<EventPage, 'runStatus'>> {
  const { category, limit } = query
  const events: Event[] = []
  let nextAfter = query.after
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
