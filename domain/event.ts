import { z } from 'zod'
import { runPhases } from './run.ts'
import { camelKeys, snakeKeys } from './wire-keys.ts'

export const eventCategories = {
  'run.accepted': 'run_lifecycle',
  'run.started': 'run_lifecycle',
  'snapshot.stored': 'run_lifecycle',
  'nodes.discovered': 'run_lifecycle',
  'bundles.checked': 'run_lifecycle',
  'run.planned': 'run_lifecycle',
  'setup.started': 'run_lifecycle',
  'setup.finished': 'run_lifecycle',
  'run.composed': 'run_lifecycle',
  'operations.repeated': 'run_lifecycle',
  'run.waiting': 'run_lifecycle',
  'models.away': 'run_lifecycle',
  'models.back': 'run_lifecycle',
  'budget.set': 'run_lifecycle',
  'budget.reached': 'run_lifecycle',
  'budget.renewed': 'run_lifecycle',
  'run.completed': 'run_lifecycle',
  'run.reopened': 'run_lifecycle',
  'run.cancelled': 'run_lifecycle',
  'publication.opened': 'run_lifecycle',
  'publication.updated': 'run_lifecycle',
  'publication.ended': 'run_lifecycle',
  'publication.refused': 'run_lifecycle',
  'decision.made': 'decision',
  'operation.queued': 'worker_call',
  'operation.started': 'worker_call',
  'operation.retried': 'worker_call',
  'operation.suspended': 'worker_call',
  'operation.resumed': 'worker_call',
  'model.requested': 'worker_progress',
  'model.responded': 'worker_progress',
  'tool.called': 'worker_progress',
  'tool.returned': 'worker_progress',
  'turn.finished': 'worker_progress',
  'submission.received': 'worker_output',
  'change_set.created': 'worker_output',
  'operation.ended': 'worker_output',
  'finding.reported': 'finding',
  'human_input.requested': 'escalation',
  'human_input.answered': 'escalation',
  'operation.blocked': 'blocked',
  'operation.skipped': 'blocked',
  'run.failed': 'failed',
  'operation.failed': 'failed',
  'publication.failed': 'failed',
} as const

export type EventName = keyof typeof eventCategories
export type EventCategory = (typeof eventCategories)[EventName]

export const EventName = z.custom<EventName>(
  (value) => typeof value === 'string' && Object.hasOwn(eventCategories, value),
  'unknown event',
)

/** The run's phases and, within execution, the stage of the attempt. */
export const EventPhase = z.enum([...runPhases, 'grail_check', 'model', 'tools', 'submission', 'publication'])
export type EventPhase = z.infer<typeof EventPhase>

export const EventOrigin = z.strictObject({
  kind: z.enum(['api', 'discovery', 'grail', 'worker', 'human', 'policy', 'publisher']),
  id: z.string(),
})
export type EventOrigin = z.infer<typeof EventOrigin>

/** An event as its emitter writes it. The ledger adds `v`, `seq`, `ts` and the fields that are the same for the whole run. */
export const NewEvent = z.strictObject({
  event: EventName,
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
  /** Counts the ms between the fact and the sending of its command. Events go in batches: `ts` is Redis' time minus this. */
  ageMs: z.number().min(0).optional(),
  /** Wire-shaped (snake_case) payload, at most 16 KiB. */
  data: z.record(z.string(), z.unknown()),
})
export type NewEvent = z.infer<typeof NewEvent>

const { event, phase, status, origin, ageMs: _, data, ...ofOperation } = NewEvent.shape

/** A numbered, past-tense fact of a run, as it is read back. `ts` is milliseconds since the epoch. */
export const Event = z.strictObject({
  v: z.literal(1),
  seq: z.int().min(1),
  ts: z.number(),
  projectId: z.string(),
  runId: z.string(),
  event,
  category: z.string(),
  phase,
  status: status.unwrap(),
  origin,
  correlationId: z.string(),
  ...ofOperation,
  data,
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
