import { z } from 'zod'
import { type EventData, EventName } from './events/event-table.ts'
import { runPhases } from './run.ts'
import { camelKeys, snakeKeys } from './wire-keys.ts'

/** The run's phases and, within execution, the stage of the attempt. */
export const EventPhase = z.enum([...runPhases, 'grail_check', 'model', 'tools', 'submission', 'publication'])
export type EventPhase = z.infer<typeof EventPhase>

export const EventOrigin = z.strictObject({
  kind: z.enum(['api', 'discovery', 'grail', 'worker', 'human', 'policy', 'publisher', 'conductor', 'watcher']),
  id: z.string(),
})
export type EventOrigin = z.infer<typeof EventOrigin>

const NewEventHead = z.strictObject({
  phase: EventPhase,
  status: z.enum(['ok', 'error']).optional(),
  origin: EventOrigin,
  operationId: z.string().optional(),
  /** The generation of the run that has planned its operation. */
  generation: z.int().optional(),
  nodeId: z.string().optional(),
  agent: z.string().optional(),
  toolName: z.string().optional(),
  durationMs: z.number().optional(),
  errorCode: z.string().optional(),
  /** The number of the event of the run that it follows from. */
  causationSeq: z.int().min(1).optional(),
  /** Counts the ms between the fact and the sending of its command. Events go in batches: `ts` is Redis' time minus this. */
  ageMs: z.number().min(0).optional(),
})

/** An event as its emitter writes it. The ledger adds `v`, `seq`, `ts` and the fields that are the same for the whole run. */
export type NewEvent = {
  [Name in EventName]: z.infer<typeof NewEventHead> & { event: Name; data: EventData<Name> }
}[EventName]

const { phase, status, origin, ageMs: _, ...ofOperation } = NewEventHead.shape

/** A numbered, past-tense fact of a run, as it is read back. `ts` is milliseconds since the epoch. */
export const Event = z.strictObject({
  v: z.literal(1),
  seq: z.int().min(1),
  ts: z.number(),
  projectId: z.string(),
  runId: z.string(),
  event: EventName,
  category: z.string(),
  phase,
  status: status.unwrap(),
  origin,
  correlationId: z.string(),
  ...ofOperation,
  /** Is as the table of events says; readers take of it what they need. */
  data: z.record(z.string(), z.unknown()),
})
export type Event = z.infer<typeof Event>

/** An event as other programs read it: `ts` is ISO 8601, and fields that do not apply are absent. */
export const WireEvent = z.object({ ...snakeKeys(Event.shape), ts: z.iso.datetime() })
export type WireEvent = z.infer<typeof WireEvent>

/** The same event always gives the same JSON, since the order of its fields is fixed. */
export function wireEvent(of: Event): WireEvent {
  return snakeKeys({ ...of, ts: new Date(of.ts).toISOString() })
}

export function eventOfWire(wire: WireEvent): Event {
  return camelKeys({ ...wire, ts: Date.parse(wire.ts) })
}
