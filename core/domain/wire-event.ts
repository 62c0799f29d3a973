import { z } from 'zod'
import { Event } from '#domain/event.ts'

const fields = Event.shape

/** An event as other programs read it (contract.md §3): `ts` is ISO 8601, what does not apply is left out. */
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
  causation_seq: fields.causationSeq,
  operation_id: fields.operationId,
  node_id: fields.nodeId,
  agent: fields.agent,
  tool_name: fields.toolName,
  duration_ms: fields.durationMs,
  error_code: fields.errorCode,
  data: fields.data,
})
export type WireEvent = z.infer<typeof WireEvent>

/** The same event gives the same JSON: its fields come in the order above. */
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
    ...(event.causationSeq === undefined ? {} : { causation_seq: event.causationSeq }),
    ...(event.operationId === undefined ? {} : { operation_id: event.operationId }),
    ...(event.nodeId === undefined ? {} : { node_id: event.nodeId }),
    ...(event.agent === undefined ? {} : { agent: event.agent }),
    ...(event.toolName === undefined ? {} : { tool_name: event.toolName }),
    ...(event.durationMs === undefined ? {} : { duration_ms: event.durationMs }),
    ...(event.errorCode === undefined ? {} : { error_code: event.errorCode }),
    data: event.data,
  }
}

/** The event that `wireEvent` made `wire` of. */
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
    ...(wire.causation_seq === undefined ? {} : { causationSeq: wire.causation_seq }),
    ...(wire.operation_id === undefined ? {} : { operationId: wire.operation_id }),
    ...(wire.node_id === undefined ? {} : { nodeId: wire.node_id }),
    ...(wire.agent === undefined ? {} : { agent: wire.agent }),
    ...(wire.tool_name === undefined ? {} : { toolName: wire.tool_name }),
    ...(wire.duration_ms === undefined ? {} : { durationMs: wire.duration_ms }),
    ...(wire.error_code === undefined ? {} : { errorCode: wire.error_code }),
    data: wire.data,
  }
}
