import { nodeView } from '#domain/node-view.ts'
import type { Operation, Outcome } from '#domain/operation.ts'
import { isoTime } from './iso-time.ts'
import type { OperationView, OutcomeView } from './operation-schema.ts'

export function operationView(operation: Operation): OperationView {
  return {
    operation_id: operation.operationId,
    run_id: operation.runId,
    agent: operation.bundle,
    work: operation.work,
    bundle_hash: operation.bundleHash,
    node: nodeView(operation.node),
    status: operation.status,
    priority: operation.priority,
    attempt: operation.attempt,
    lost: operation.lost,
    dependencies_left: operation.dependenciesLeft,
    waits_for: operation.waitsFor,
    started_at: isoTime(operation.startedAt),
    ended_at: isoTime(operation.endedAt),
    outcome: operation.outcome === null ? null : outcomeView(operation.outcome),
  }
}

function outcomeView(outcome: Outcome): OutcomeView {
  return {
    status: outcome.status,
    summary: outcome.summary,
    error_code: outcome.errorCode,
    phase: outcome.phase,
    reason: outcome.reason,
    record_hash: outcome.recordHash,
    change_set_id: outcome.changeSetId,
    change_set_ids: outcome.changeSetIds,
    changed_files: outcome.changedFiles,
    turns: outcome.turns,
    tokens: { prompt: outcome.promptTokens, completion: outcome.completionTokens },
    duration_ms: outcome.durationMs,
  }
}
