import { z } from 'zod'
import type { Event } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { decodeEvent, StreamEntry } from './event-codec.ts'
import { runKeys } from './keys.ts'
import { unknownRun } from './refusal.ts'
import type { LedgerStore } from './store.ts'

/** Up to `limit` events after number `after` (0: from the first), in order. RUN_001 when there is no such run. */
export async function readEvents(
  store: LedgerStore,
  runId: RunId,
  page: { after: number; limit: number },
): Promise<Event[]> {
  const keys = runKeys(store.namespace, runId)
  const [projectId, entries] = await Promise.all([
    store.redis.hget(keys.run, 'project'),
    store.redis.xrange(keys.events, String(page.after + 1), '+', 'COUNT', page.limit),
  ])
  if (projectId === null) throw unknownRun(runId)
  return z
    .array(StreamEntry)
    .parse(entries)
    .map((entry) => decodeEvent(entry, { runId, projectId }))
}
