import { z } from 'zod'
import { type Event, eventOfWire, WireEvent, wireEvent } from '#domain/event.ts'
import { sha256 } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { objectKeys } from './object-keys.ts'
import { type ObjectStore, parseObject, undefinedWhenMissing } from './object-store.ts'
import { damagedObject, linesOf, openHashedReads, parseLine } from './hashed-reads.ts'

type Segment = { projectId: string; runId: string; first: number; last: number }
type Run = Pick<Segment, 'projectId' | 'runId'>
/** `maxInlineBytes`: data of more bytes is stored by itself. */
type SegmentOptions = { maxCacheBytes?: number; maxInlineBytes?: number }
type Page = { after: number; limit: number }

const contentType = 'application/x-ndjson'
const defaultCacheBytes = 16 * 1024 * 1024
const defaultInlineBytes = 16 * 1024

/** Stores archived events, per segment one object of JSON Lines, and the data of large ones, by its hash. Caches up to `maxCacheBytes`, so that paging fetches a segment once. */
export function openEventSegments(
  objects: Pick<ObjectStore, 'get' | 'put'>,
  { maxCacheBytes = defaultCacheBytes, maxInlineBytes = defaultInlineBytes }: SegmentOptions = {},
) {
  const cache = openCachedAnswers<Uint8Array>({ maxSize: maxCacheBytes, sizeOf: ({ length }) => length })
  const payloads = openHashedReads(objects, { parse: payloadOf, maxCacheBytes })
  return {
    maxInlineBytes,
    async put(segment: Segment, events: readonly Event[]): Promise<void> {
      const lines = events.map((event) => `${JSON.stringify(wireEvent(event))}\n`)
      await objects.put(keyOf(segment), lines.join(''), { contentType })
    },
    /** Returns undefined when there is no such object; throws STORE_003 when it does not hold what its name says. */
    async get(segment: Segment, page: Page): Promise<Event[] | undefined> {
      const key = keyOf(segment)
      const bytes = await cache.get(key, () => objects.get(key)).catch(undefinedWhenMissing)
      return bytes === undefined ? undefined : eventsOf(bytes, segment, page)
    },
    /** Stores the data of one event and returns its hash; the same again changes nothing. */
    async putPayload({ projectId, runId }: Run, json: string): Promise<string> {
      const hash = sha256(json)
      await objects.put(objectKeys.eventPayload(projectId, runId, hash), json, { contentType: 'application/json' })
      return hash
    },
    /** STORE_003 when it is missing or is another. */
    getPayload: ({ projectId, runId }: Run, hash: string) =>
      payloads(objectKeys.eventPayload(projectId, runId, hash), hash),
    async putTalk({ projectId, runId }: Run, name: string, parts: readonly string[]): Promise<void> {
      const key = objectKeys.pastAttempt(projectId, runId, name)
      await objects.put(key, JSON.stringify(parts), { contentType: 'application/json' })
    },
    async getTalk({ projectId, runId }: Run, name: string): Promise<readonly string[]> {
      const key = objectKeys.pastAttempt(projectId, runId, name)
      const bytes = await objects.get(key).catch(undefinedWhenMissing)
      return bytes === undefined ? [] : parseObject(bytes, key, z.array(z.string()))
    },
  }
}

const Payload = z.record(z.string(), z.unknown())

function payloadOf(bytes: Uint8Array, key: string) {
  return parseLine(Buffer.from(bytes).toString(), key, Payload)
}

function keyOf({ projectId, runId, first, last }: Segment): string {
  return objectKeys.eventSegment(projectId, runId, { first, last })
}

function eventsOf(bytes: Uint8Array, segment: Segment, { after, limit }: Page): Event[] {
  const lines = linesOf(bytes)
  if (lines.length !== segment.last - segment.first + 1) throw damagedObject(keyOf(segment))
  const from = Math.max(after + 1, segment.first)
  const wanted = lines.slice(from - segment.first, from - segment.first + limit)
  return wanted.map((line, at) => {
    const wire = WireEvent.safeParse(parseJson(line))
    if (!wire.success || wire.data.seq !== from + at) throw damagedObject(keyOf(segment), wire.error)
    return eventOfWire(wire.data)
  })
}
