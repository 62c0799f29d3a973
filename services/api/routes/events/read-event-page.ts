import { AppError } from '#domain/error.ts'
import type { Event } from '#domain/event.ts'
import type { Run } from '#domain/run.ts'
import type { EventSource } from './run-log.ts'

/** Without `categories` it asks for all. */
type EventQuery = { after: number; categories: ReadonlySet<string> | undefined; limit: number }

/** `nextAfter` is the last event that was read, whether it matched or not. */
type ReadEventPage = { events: Event[]; nextAfter: number }

const scanSize = 500
/** After so many pages the answer is sent, even if it is short or empty. */
const maxScans = 8

/** RUN_002 for a position that is not in the log. */
export function requireKnown({ seq }: Run, after: number): void {
  if (after > seq) throw new AppError('RUN_002', `after: ${after} is past the last event of the run, ${seq}`)
}

/** Reads events that match, and up to 4,000 that do not. An ended run with an empty page has no more events. */
export async function readEventPage(
  { runId }: Run,
  { categories, limit, after }: EventQuery,
  source: Pick<EventSource, 'readEvents'>,
): Promise<ReadEventPage> {
  const events: Event[] = []
  let nextAfter = after
  for (let scans = 0; scans < maxScans; scans += 1) {
    const size = categories === undefined ? limit : scanSize
    const page = await source.readEvents(runId, { after: nextAfter, limit: size })
    for (const event of page) {
      nextAfter = event.seq
      if (categories?.has(event.category) ?? true) events.push(event)
      if (events.length === limit) return { events, nextAfter }
    }
    if (page.length < size) break
  }
  return { events, nextAfter }
}
