import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { Event } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { segmentOf } from './event-archive.ts'
import { decodeEvent, StreamEntry } from './event-codec.ts'
import { runKeys, type RunKeys } from './keys.ts'
import { unknownRun } from './refusal.ts'
import type { LedgerStore } from './store.ts'

type Page = { after: number; limit: number }
type RunEvents = { runId: RunId; projectId: string; keys: RunKeys; seq: number }

const Counted = z.tuple([z.string().nullable(), z.coerce.number()])

/**
 * Up to `limit` events after number `after` (0: from the first), in order; fewer only at the end. What the stream no
 * longer has comes from the archive. RUN_001 when there is no such run; STORE_003, naming the segment, for events that
 * were trimmed and are not in the archive. An event missing in the midst of the stream is passed over.
 */
export async function readEvents(store: LedgerStore, runId: RunId, page: Page): Promise<Event[]> {
  const keys = runKeys(store.namespace, runId)
  // In this order: an event that is counted is in the stream, or trimmed from it.
  const [row, entries] = await Promise.all([
    store.redis.hmget(keys.run, 'project', 'seq'),
    store.redis.xrange(keys.events, page.after + 1, page.after + page.limit),
  ])
  const [projectId, seq] = Counted.parse(row)
  if (projectId === null) throw unknownRun(runId)
  const run = { runId, projectId, keys, seq }
  const events = decode(entries, run)
  const isWhole = events.length >= Math.min(page.limit, seq - page.after)
  return isWhole ? events : joinArchive(store, run, page)
}

async function joinArchive(store: LedgerStore, run: RunEvents, page: Page): Promise<Event[]> {
  // In this order: what is trimmed between the two is taken from the archive.
  const [entries, oldest] = await Promise.all([
    store.redis.xrange(run.keys.events, page.after + 1, '+', 'COUNT', page.limit),
    store.redis.xrange(run.keys.events, '-', '+', 'COUNT', 1),
  ])
  const streamStart = decode(oldest, run)[0]?.seq ?? run.seq + 1
  const archived = await readArchived(store, run, { ...page, before: streamStart })
  const last = archived.at(-1)?.seq ?? page.after
  const streamed = decode(entries, run).filter((event) => event.seq > last)
  return [...archived, ...streamed.slice(0, page.limit - archived.length)]
}

async function readArchived(
  { archive }: LedgerStore,
  run: RunEvents,
  { after, limit, before }: Page & { before: number },
): Promise<Event[]> {
  const events: Event[] = []
  for (let next = after + 1; next < before && events.length < limit;) {
    const segment = segmentOf(run, next)
    const found = await archive?.get(segment, { after: next - 1, limit: limit - events.length })
    const last = found?.at(-1)?.seq
    // Without this an archive that answers with nothing further would be asked for the same for ever.
    const goesOn = last !== undefined && last >= next
    if (goesOn) events.push(...(found ?? []))
    else if (segment.last < before) throw missingSegment(segment)
    next = goesOn ? last + 1 : before
  }
  return events
}

function missingSegment({ first, last }: { first: number; last: number }): AppError {
  return new AppError('STORE_003', `events ${first} to ${last} are neither in the stream nor in the archive`)
}

function decode(entries: readonly unknown[], run: RunEvents): Event[] {
  return z
    .array(StreamEntry)
    .parse(entries)
    .map((entry) => decodeEvent(entry, run))
}
