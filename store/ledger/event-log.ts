import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { Event } from '#domain/event.ts'
import { EventName } from '#domain/events/event-table.ts'
import type { RunId } from '#domain/ids.ts'
import { runSchema } from '#domain/run.ts'
import { decodeEvent, type EventArchive, segmentLength, segmentOf, StreamEntry } from './stored-events.ts'
import { runKeys, type RunKeys } from './keys.ts'
import { newerRun, unknownRun } from './script.ts'
import type { LedgerStore } from './store.ts'
import { archiveTalks } from './talk.ts'

/** Returns how often the run has had each event: what it costs does not grow with their number. RUN_001. */
export async function readTally(store: LedgerStore, runId: RunId): Promise<ReadonlyMap<EventName, number>> {
  const { run, tally } = runKeys(store.namespace, runId)
  const [schema, stored] = await Promise.all([store.redis.hget(run, 'schema'), store.redis.hgetall(tally)])
  if (schema === null) throw unknownRun(runId)
  return new Map(Object.entries(stored).map(([name, times]) => [EventName.parse(name), Number(times)]))
}

type Page = { after: number; limit: number }
type RunEvents = { runId: RunId; projectId: string; keys: RunKeys; seq: number }

const ProjectAndNumber = z.tuple([z.string().nullable(), z.coerce.number()])

/**
 * Reads up to `limit` events after number `after` (0: from the first); fewer only at the end. What the stream no longer holds
 * comes from the archive. RUN_001 for an unknown run; STORE_003, naming the segment, for events that are in neither.
 */
export async function readEvents(store: LedgerStore, runId: RunId, page: Page): Promise<Event[]> {
  const keys = runKeys(store.namespace, runId)
  // The count is read first: an event that is counted is in the stream, or was trimmed from it.
  const [row, entries] = await Promise.all([
    store.redis.hmget(keys.run, 'project', 'seq'),
    store.redis.xrange(keys.events, page.after + 1, page.after + page.limit),
  ])
  const [projectId, seq] = ProjectAndNumber.parse(row)
  if (projectId === null) throw unknownRun(runId)
  const run = { runId, projectId, keys, seq }
  const events = await decode(store, entries, run)
  const isWhole = events.length >= Math.min(page.limit, seq - page.after)
  return isWhole ? events : joinArchive(store, run, page)
}

async function joinArchive(store: LedgerStore, run: RunEvents, page: Page): Promise<Event[]> {
  // In this order: what is trimmed between the two reads comes from the archive.
  const [entries, oldest] = await Promise.all([
    store.redis.xrange(run.keys.events, page.after + 1, '+', 'COUNT', page.limit),
    store.redis.xrange(run.keys.events, '-', '+', 'COUNT', 1),
  ])
  const streamStart = (await decode(store, oldest, run))[0]?.seq ?? run.seq + 1
  const archived = await readArchived(store, run, { ...page, before: streamStart })
  const last = archived.at(-1)?.seq ?? page.after
  const streamed = (await decode(store, entries, run)).filter((event) => event.seq > last)
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
    const archived = await archive?.get(segment, { after: next - 1, limit: limit - events.length })
    const last = archived?.at(-1)?.seq
    // An archive that returns nothing further must not be asked for the same again and again.
    const hasMore = last !== undefined && last >= next
    if (hasMore) events.push(...(archived ?? []))
    else if (segment.last < before) {
      const which = `events ${segment.first} to ${segment.last}`
      throw new AppError('STORE_003', `${which} are neither in the stream nor in the archive`)
    }
    next = hasMore ? last + 1 : before
  }
  return events
}

/** Decodes entries, and gets the data that is not in them: every reader sees it whole. STORE_003 for data that is gone. */
async function decode(
  { archive }: Pick<LedgerStore, 'archive'>,
  entries: readonly unknown[],
  run: { runId: string; projectId: string },
): Promise<Event[]> {
  const events: Event[] = []
  for (const entry of z.array(StreamEntry).parse(entries)) {
    const { event, payload } = decodeEvent(entry, run)
    if (payload !== undefined) {
      const data = await archive?.getPayload(run, payload)
      if (data === undefined) throw new AppError('STORE_003', `the data of event ${event.seq} cannot be read here`)
      event.data = { ...event.data, ...data }
    }
    events.push(event)
  }
  return events
}

/** So many events always stay in the stream, so that followers of a run need not ask the archive. */
const defaultKeep = 10_000
const maxSegments = 5
const maxTalks = 100

/**
 * Moves what attempts said that are over, and whole segments of the oldest events to the archive while the stream holds `keep` besides;
 * returns in how many steps, at most 5, of a segment and of 100 attempts. A segment is stored before it is trimmed, so that a crash loses
 * nothing. Concurrent calls are harmless. Events behind a gap stay.
 */
export async function archiveEvents(store: LedgerStore, runId: RunId, { keep = defaultKeep }: { keep?: number } = {}) {
  const { archive, redis } = store
  if (archive === undefined) return 0
  const keys = runKeys(store.namespace, runId)
  for (let moved = 0; moved < maxSegments; moved += 1) {
    const [length, over] = await Promise.all([redis.xlen(keys.events), redis.srandmember(keys.past, maxTalks)])
    if (over.length > 0) await archiveTalks(store, await archivedRun(redis, runId, keys), keys, over)
    const isMoved = length >= keep + segmentLength && (await moveOldest(redis, archive, runId, keys))
    if (!isMoved && over.length === 0) return moved
  }
  return maxSegments
}

async function moveOldest(redis: LedgerStore['redis'], archive: EventArchive, runId: RunId, keys: RunKeys) {
  const [run, entries] = await Promise.all([
    archivedRun(redis, runId, keys),
    redis.xrange(keys.events, '-', '+', 'COUNT', segmentLength),
  ])
  const events = await decode({ archive }, entries, run)
  const segment = segmentOf(run, events[0]?.seq ?? 1)
  const isWhole = events.length === segmentLength && events.every(({ seq }, at) => seq === segment.first + at)
  if (!isWhole) return false
  await archive.put(segment, events)
  await redis.xtrim(keys.events, 'MINID', '=', `${segment.last + 1}-0`)
  return true
}

/** RUN_001 and RUN_005 for a run whose data is not to be moved. */
async function archivedRun(redis: LedgerStore['redis'], runId: RunId, keys: RunKeys) {
  const [projectId, schema] = ProjectAndNumber.parse(await redis.hmget(keys.run, 'project', 'schema'))
  if (projectId === null) throw unknownRun(runId)
  if (schema > runSchema) throw newerRun(runId)
  return { runId, projectId }
}
