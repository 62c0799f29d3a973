import { z } from '@hono/zod-openapi'
import { nodeView } from '#domain/code-node.ts'
import { Operation, Outcome } from '#domain/operation.ts'
import { OperationId, RunId } from '#domain/ids.ts'
import { QuestionId } from '#domain/question.ts'
import { isoTime, named, orNull } from '../http/schema-parts.ts'
import { NodeShape } from './node-endpoints.ts'
import { OperationStatusShape, OperationWorkShape, Time } from './run-schema.ts'

const outcome = Outcome.shape

/** Tokens of the requests to the model. */
export const TokenUse = z
  .strictObject({ prompt: outcome.promptTokens, completion: outcome.completionTokens })
  .openapi('TokenUse')

export const OutcomeView = z
  .strictObject({
    status: named('OutcomeStatus', outcome.status),
    summary: outcome.summary,
    error_code: outcome.errorCode,
    phase: outcome.phase,
    reason: outcome.reason,
    record_hash: outcome.recordHash,
    change_set_id: outcome.changeSetId,
    change_set_ids: outcome.changeSetIds,
    changed_files: outcome.changedFiles,
    turns: outcome.turns,
    tokens: TokenUse,
    duration_ms: outcome.durationMs,
  })
  .openapi('Outcome')
export type OutcomeView = z.infer<typeof OutcomeView>

/** One bundle on one node of a run. */
export const OperationView = z
  .strictObject({
    operation_id: OperationId,
    run_id: RunId,
    agent: z.string(),
    work: OperationWorkShape,
    bundle_hash: z.string(),
    node: NodeShape,
    status: OperationStatusShape,
    priority: Operation.shape.priority,
    attempt: z.int(),
    lost: z.int().openapi({ description: 'how often its worker was lost' }),
    dependencies_left: z.int(),
    waits_for: QuestionId.nullable().openapi({ description: 'the question it waits for' }),
    started_at: Time.nullable(),
    ended_at: Time.nullable(),
    outcome: orNull(OutcomeView),
  })
  .openapi('Operation')
export type OperationView = z.infer<typeof OperationView>

/** In the order of the plan. `next` is the `cursor` of the next page; null on the last. */
export const OperationPage = z
  .strictObject({ operations: z.array(OperationView), next: z.string().nullable() })
  .openapi('OperationPage')

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
