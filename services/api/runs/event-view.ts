import type { Event } from '#domain/event.ts'

/** An event on the wire (contract.md §3): snake_case, absent fields left out, `ts` as ISO 8601. */
export function eventView(event: Event) {
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
    causation_seq: event.causationSeq,
    operation_id: event.operationId,
    node_id: event.nodeId,
    agent: event.agent,
    tool_name: event.toolName,
    duration_ms: event.durationMs,
    error_code: event.errorCode,
    data: event.data,
  }
}
