import { z } from 'zod'
import { type Event, EventOrigin, EventPhase, type NewEvent } from '#domain/event.ts'
import { EventName, eventTable } from '#domain/events/event-table.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'

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
})

/** One stream entry as ioredis gives it: id, then field and value in turn. */
export const StreamEntry = z.tuple([
  z.string().regex(/^\d+-0$/),
  z.tuple([z.literal('m'), z.coerce.number(), z.literal('j'), z.string()]),
])
export type StreamEntry = z.infer<typeof StreamEntry>

/** Two script arguments per event: how long ago it happened in whole ms, and its body, without secrets. */
export function encodeEvents(events: readonly NewEvent[], redactor: Redactor): string[] {
  return events.flatMap((event) => [Math.round(event.ageMs ?? 0).toString(), bodyOf(event, redactor)])
}

function bodyOf(event: NewEvent, redactor: Redactor): string {
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
  return `${head.slice(0, -1)},"j":${redactor.json(JSON.stringify(event.data))}}`
}

export function decodeEvent(entry: StreamEntry, run: { runId: string; projectId: string }): Event {
  const [id, [, ts, , json]] = entry
  const body = StoredBody.parse(JSON.parse(json))
  return {
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
}

/** Events of a run that are archived together: all of them, from number `first` to number `last`. */
export type EventSegment = { projectId: string; runId: string; first: number; last: number }

export type EventArchive = {
  /** Stores a whole segment; the same one again changes nothing. */
  put(segment: EventSegment, events: readonly Event[]): Promise<void>
  /** Returns up to `limit` of its events after number `after`, in order; undefined when the segment was never stored. */
  get(segment: EventSegment, page: { after: number; limit: number }): Promise<Event[] | undefined>
}

/** A segment's length. Never to be changed: the number of an event alone says in which segment it is. */
export const segmentLength = 1_000

export function segmentOf(run: { projectId: string; runId: string }, seq: number): EventSegment {
  const first = seq - ((seq - 1) % segmentLength)
  return { projectId: run.projectId, runId: run.runId, first, last: first + segmentLength - 1 }
}
