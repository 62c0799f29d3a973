import { z } from 'zod'
import { type Event, EventOrigin, EventPhase, type NewEvent } from '#domain/event.ts'
import { EventName, eventTable } from '#domain/events/event-table.ts'
import type { RunId } from '#domain/ids.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { runKeys } from './keys.ts'
import { unknownRun } from './script.ts'

/** An entry is `m`, the time in ms, and `j`, JSON with one-letter names, without what its run shares. See events.lua. */
const StoredBody = z.strictObject({
  e: EventName,
  p: EventPhase,
  s: z.literal('error').optional(),
  k: EventOrigin.shape.kind,
  i: z.string(),
  o: z.string().optional(),
  /** Is left out where it is 1. */
  g: z.int().optional(),
  n: z.string().optional(),
  a: z.string().optional(),
  t: z.string().optional(),
  d: z.number().optional(),
  x: z.string().optional(),
  /** The number of the event that it follows from. */
  c: z.int().optional(),
  j: z.record(z.string(), z.unknown()),
  /** Names the stored data of an event whose data is too large to be here. */
  r: z.string().optional(),
})

/** One stream entry as ioredis gives it: id, then field and value in turn. */
export const StreamEntry = z.tuple([
  z.string().regex(/^\d+-0$/),
  z.tuple([z.literal('m'), z.coerce.number(), z.literal('j'), z.string()]),
])
export type StreamEntry = z.infer<typeof StreamEntry>

type EventStore = { redactor: Redactor; archive: EventArchive | undefined }
type OfRun = { projectId: string; runId: string }

/**
 * Returns two script arguments per event: how long ago it happened in whole ms, and its body, without secrets. Data that is too large
 * for Redis is in the archive before that; only then it is asked whose `run` it is.
 */
export async function storedEvents(
  { archive, redactor }: EventStore,
  run: OfRun | (() => Promise<OfRun>),
  events: readonly NewEvent[],
): Promise<string[]> {
  const args: string[] = []
  for (const event of events) {
    const data = redactor.json(JSON.stringify(event.data))
    const hash = isLarge(data, archive)
      ? await archive?.putPayload(typeof run === 'function' ? await run() : run, data)
      : undefined
    const rest = hash === undefined ? `"j":${data}` : `"j":${JSON.stringify(tokensOf(event))},"r":"${hash}"`
    args.push(Math.round(event.ageMs ?? 0).toString(), `${headOf(event, redactor)},${rest}}`)
  }
  return args
}

/** The ledger counts what an answer has cost from the entry, wherever its data is. */
function tokensOf({ data }: NewEvent) {
  if (!('prompt_tokens' in data)) return {}
  const { prompt_tokens, completion_tokens } = data
  return { prompt_tokens, completion_tokens }
}

export function isLarge(json: string, archive: Pick<EventArchive, 'maxInlineBytes'> | undefined): boolean {
  return Buffer.byteLength(json) > (archive?.maxInlineBytes ?? Infinity)
}

/** Says whose run it is, to those who need to know. RUN_001. */
export function ownerOf({ redis, namespace }: { redis: RedisClient; namespace: string }, runId: RunId) {
  return async (): Promise<OfRun> => {
    const projectId = await redis.hget(runKeys(namespace, runId).run, 'project')
    if (projectId === null) throw unknownRun(runId)
    return { projectId, runId }
  }
}

/** The body's beginning, without its end. */
function headOf(event: NewEvent, redactor: Redactor): string {
  const head = JSON.stringify({
    e: event.event,
    p: event.phase,
    s: event.status === 'error' ? 'error' : undefined,
    k: event.origin.kind,
    i: event.origin.id,
    o: event.operationId,
    g: event.generation === 1 ? undefined : event.generation,
    n: event.nodeId,
    a: event.agent,
    t: event.toolName === undefined ? undefined : redactor.text(event.toolName),
    d: event.durationMs,
    x: event.errorCode,
    c: event.causationSeq,
  })
  return head.slice(0, -1)
}

/** `payload`: the name of its data, where that is not in the entry. */
type DecodedEvent = { event: Event; payload: string | undefined }

export function decodeEvent(entry: StreamEntry, run: OfRun): DecodedEvent {
  const [id, [, ts, , json]] = entry
  const body = StoredBody.parse(JSON.parse(json))
  const event: Event = {
    v: 1,
    seq: Number.parseInt(id, 10),
    ts,
    projectId: run.projectId,
    runId: run.runId,
    event: body.e,
    category: eventTable[body.e].category,
    phase: body.p,
    status: body.s ?? 'ok',
    origin: { kind: body.k, id: body.i },
    correlationId: run.runId,
    ...(body.o === undefined ? {} : { operationId: body.o, generation: body.g ?? 1 }),
    ...(body.n === undefined ? {} : { nodeId: body.n }),
    ...(body.a === undefined ? {} : { agent: body.a }),
    ...(body.t === undefined ? {} : { toolName: body.t }),
    ...(body.d === undefined ? {} : { durationMs: body.d }),
    ...(body.x === undefined ? {} : { errorCode: body.x }),
    ...(body.c === undefined ? {} : { causationSeq: body.c }),
    data: body.j,
  }
  return { event, payload: body.r }
}

/** Events of a run that are archived together: all of them, from number `first` to number `last`. */
export type EventSegment = { projectId: string; runId: string; first: number; last: number }

export type EventArchive = {
  /** Data of more bytes is stored here and not with its event, so that Redis holds no large texts. */
  maxInlineBytes: number
  /** Stores a whole segment; the same one again changes nothing. */
  put(segment: EventSegment, events: readonly Event[]): Promise<void>
  /** Returns up to `limit` of its events after number `after`, in order; undefined when the segment was never stored. */
  get(segment: EventSegment, page: { after: number; limit: number }): Promise<Event[] | undefined>
  /** Stores the data of one event, and returns its name. */
  putPayload(run: OfRun, json: string): Promise<string>
  getPayload(run: OfRun, name: string): Promise<Event['data']>
  /** Stores what an attempt said that is over, by the name of the attempt; the same again changes nothing. */
  putTalk(run: OfRun, name: string, parts: readonly string[]): Promise<void>
  /** Returns no parts when nothing was stored. */
  getTalk(run: OfRun, name: string): Promise<readonly string[]>
}

/** A segment's length. Never to be changed: the number of an event alone says in which segment it is. */
export const segmentLength = 1_000

export function segmentOf(run: { projectId: string; runId: string }, seq: number): EventSegment {
  const first = seq - ((seq - 1) % segmentLength)
  return { projectId: run.projectId, runId: run.runId, first, last: first + segmentLength - 1 }
}
