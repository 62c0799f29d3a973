import { z } from 'zod'
import { runPhases } from './run.ts'

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

/** A numbered, past-tense fact of a run, as it is read back. `ts` is milliseconds since the epoch. */
export const Event = NewEvent.omit({ ageMs: true }).extend({
  v: z.literal(1),
  seq: z.int().min(1),
  ts: z.number(),
  projectId: z.string(),
  runId: z.string(),
  category: z.string(),
  status: z.enum(['ok', 'error']),
  correlationId: z.string(),
})
export type Event = z.infer<typeof Event>

const fields = Event.shape

/** An event as other programs read it: `ts` is ISO 8601, and fields that do not apply are absent. */
export const WireEvent = z.object({
  v: fields.v,
  seq: fields.seq,
  ts: z.iso.datetime(),
  project_id: fields.projectId,
  run_id: fields.runId,
  event: fields.event,
  category: fields.category,
  phase: fields.phase,
  status: fields.status,
  origin: fields.origin,
  correlation_id: fields.correlationId,
  operation_id: fields.operationId,
  generation: fields.generation,
  node_id: fields.nodeId,
  agent: fields.agent,
  tool_name: fields.toolName,
  duration_ms: fields.durationMs,
  error_code: fields.errorCode,
  data: fields.data,
})
export type WireEvent = z.infer<typeof WireEvent>

/** The same event always gives the same JSON: the order of the fields is fixed. */
export function wireEvent(event: Event): WireEvent {
  return {
    v: event.v,
    seq: event.seq,
    ts: new Date(event.ts).toISOString(),
    project_id: event.projectId,
    run_id: event.runId,
    event: event.event,
    category: event.category,
    phase: event.phase,
    status: event.status,
    origin: event.origin,
    correlation_id: event.correlationId,
    ...(event.operationId === undefined ? {} : { operation_id: event.operationId }),
    ...(event.generation === undefined ? {} : { generation: event.generation }),
    ...(event.nodeId === undefined ? {} : { node_id: event.nodeId }),
    ...(event.agent === undefined ? {} : { agent: event.agent }),
    ...(event.toolName === undefined ? {} : { tool_name: event.toolName }),
    ...(event.durationMs === undefined ? {} : { duration_ms: event.durationMs }),
    ...(event.errorCode === undefined ? {} : { error_code: event.errorCode }),
    data: event.data,
  }
}

export function eventOfWire(wire: WireEvent): Event {
  return {
    v: wire.v,
    seq: wire.seq,
    ts: Date.parse(wire.ts),
    projectId: wire.project_id,
    runId: wire.run_id,
    event: wire.event,
    category: wire.category,
    phase: wire.phase,
    status: wire.status,
    origin: wire.origin,
    correlationId: wire.correlation_id,
    ...(wire.operation_id === undefined ? {} : { operationId: wire.operation_id }),
    ...(wire.generation === undefined ? {} : { generation: wire.generation }),
    ...(wire.node_id === undefined ? {} : { nodeId: wire.node_id }),
    ...(wire.agent === undefined ? {} : { agent: wire.agent }),
    ...(wire.tool_name === undefined ? {} : { toolName: wire.tool_name }),
    ...(wire.duration_ms === undefined ? {} : { durationMs: wire.duration_ms }),
    ...(wire.error_code === undefined ? {} : { errorCode: wire.error_code }),
    data: wire.data,
  }
}
