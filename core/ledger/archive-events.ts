import { z } from 'zod'
import type { RunId } from '#domain/ids.ts'
import { runSchema } from '#domain/run.ts'
import { segmentLength, segmentOf, type EventArchive, type EventSegment } from './event-archive.ts'
import { decodeEvent, StreamEntry } from './event-codec.ts'
import { runKeys, type RunKeys } from './keys.ts'
import { newerRun, unknownRun } from './refusal.ts'
import type { LedgerStore } from './store.ts'

/** Events that always stay in the stream, so that whoever follows a run need not ask the archive. */
const defaultKeep = 10_000
/** So that a call is bounded; the next one goes on. */
const maxSegments = 5

const Project = z.tuple([z.string().nullable(), z.coerce.number()])

/**
 * Moves whole segments of the oldest events to the archive while the stream has `keep` events besides; answers how many
 * segments it moved, at most 5. A segment is stored before it is trimmed: a crash between the two loses nothing, and
 * the next call stores the same again. Any number of callers at once do no harm. Events behind a gap stay where they are.
 */
export async function archiveEvents(
  store: LedgerStore,
  archive: EventArchive,
  runId: RunId,
  { keep = defaultKeep }: { keep?: number } = {},
): Promise<number> {
  const keys = runKeys(store.namespace, runId)
  for (let moved = 0; moved < maxSegments; moved += 1) {
    const length = await store.redis.xlen(keys.events)
    if (length < keep + segmentLength) return moved
    if (!(await moveOldest(store, archive, { runId, keys }))) return moved
  }
  return maxSegments
}

async function moveOldest(
  { redis }: LedgerStore,
  archive: EventArchive,
  { runId, keys }: { runId: RunId; keys: RunKeys },
): Promise<boolean> {
  const [row, entries] = await Promise.all([
    redis.hmget(keys.run, 'project', 'schema'),
    redis.xrange(keys.events, '-', '+', 'COUNT', segmentLength),
  ])
  const [projectId, schema] = Project.parse(row)
  if (projectId === null) throw unknownRun(runId)
  if (schema > runSchema) throw newerRun(runId)
  const events = z
    .array(StreamEntry)
    .parse(entries)
    .map((entry) => decodeEvent(entry, { runId, projectId }))
  const segment = segmentOf({ runId, projectId }, events[0]?.seq ?? 1)
  if (!isWhole(segment, events)) return false
  await archive.put(segment, events)
  await redis.xtrim(keys.events, 'MINID', '=', `${segment.last + 1}-0`)
  return true
}

function isWhole({ first }: EventSegment, events: readonly { seq: number }[]): boolean {
  return events.length === segmentLength && events.every(({ seq }, at) => seq === first + at)
}
