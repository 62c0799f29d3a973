import { z } from 'zod'
import { runPhases } from '#domain/run.ts'

/** Every event and the category it is read under (contract.md §3). The name alone decides the category. */
export const eventCategories = {
  'run.accepted': 'run_lifecycle',
  'run.started': 'run_lifecycle',
  'snapshot.stored': 'run_lifecycle',
  'nodes.discovered': 'run_lifecycle',
  'bundles.checked': 'run_lifecycle',
  'run.planned': 'run_lifecycle',
  'run.composed': 'run_lifecycle',
  'run.waiting': 'run_lifecycle',
  'run.completed': 'run_lifecycle',
  'run.cancelled': 'run_lifecycle',
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
  'human_input.requested': 'escalation',
  'human_input.answered': 'escalation',
  'operation.blocked': 'blocked',
  'operation.skipped': 'blocked',
  'run.failed': 'failed',
  'operation.failed': 'failed',
} as const

export type EventName = keyof typeof eventCategories
export type EventCategory = (typeof eventCategories)[EventName]

export const EventName = z.custom<EventName>(
  (value) => typeof value === 'string' && Object.hasOwn(eventCategories, value),
  'unknown event',
)

/** The run's phases and, within execution, the stage of the attempt. */
export const EventPhase = z.enum([...runPhases, 'grail_check', 'model', 'tools', 'submission'])
export type EventPhase = z.infer<typeof EventPhase>

export const EventOrigin = z.strictObject({
  kind: z.enum(['api', 'discovery', 'grail', 'conductor', 'worker', 'watcher', 'publisher', 'human']),
  id: z.string(),
})
export type EventOrigin = z.infer<typeof EventOrigin>

/** What an emitter says. The ledger adds `v`, `seq`, `ts` and what is constant for the run. */
export const NewEvent = z.strictObject({
  event: EventName,
  phase: EventPhase,
  status: z.enum(['ok', 'error']).optional(),
  origin: EventOrigin,
  operationId: z.string().optional(),
  nodeId: z.string().optional(),
  agent: z.string().optional(),
  toolName: z.string().optional(),
  durationMs: z.number().optional(),
  errorCode: z.string().optional(),
  causationSeq: z.int().optional(),
  /**
   * How long ago it happened, in ms, when the command is sent: events travel in batches, `ts` is Redis' time less this.
   */
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
