import { z } from '@hono/zod-openapi'
import { nodeView } from '#domain/code-node.ts'
import { Operation, Outcome } from '#domain/operation.ts'
import { OperationId, RunId } from '#domain/ids.ts'
import { QuestionId } from '#domain/question.ts'
import { isoTime, named, orNull, viewOf, Time } from '../http/schema-parts.ts'
import { NodeShape } from './node-endpoints.ts'
import { OperationStatusShape, OperationWorkShape } from './run-schema.ts'

const fields = Outcome.shape

/** Tokens of the requests to the model. */
export const TokenUse = z
  .strictObject({ prompt: fields.promptTokens, completion: fields.completionTokens })
  .openapi('TokenUse')

export const OutcomeView = z
  .strictObject({
    status: named('OutcomeStatus', fields.status),
    summary: fields.summary,
    error_code: fields.errorCode,
    phase: fields.phase,
    reason: fields.reason,
    record_hash: fields.recordHash,
    change_set_id: fields.changeSetId,
    change_set_ids: fields.changeSetIds,
    changed_files: fields.changedFiles,
    findings: fields.findings.meta({ description: 'how many it has reported; absent where none' }),
    turns: fields.turns,
    tokens: TokenUse,
    duration_ms: fields.durationMs,
  })
  .openapi('Outcome')

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
    starts_from: z.array(OperationId).openapi({ description: 'the operations whose changes it starts from' }),
    repeats: OperationId.nullable().openapi({
      description: 'the operation that it does once more, on top of changes that collided with those of that one',
    }),
    waits_for: QuestionId.nullable().openapi({ description: 'the question it waits for' }),
    started_at: Time.nullable(),
    ended_at: Time.nullable(),
    outcome: orNull(OutcomeView),
  })
  .openapi('Operation')
type OperationView = z.infer<typeof OperationView>

/** In the order of the plan. `next` is the `cursor` of the next page; null on the last. */
export const OperationPage = z
  .strictObject({ operations: z.array(OperationView), next: z.string().nullable() })
  .openapi('OperationPage')

export function operationView(operation: Operation): OperationView {
  const { bundle, node, startedAt, endedAt, outcome } = operation
  return viewOf(OperationView, operation, {
    agent: bundle,
    node: nodeView(node),
    repeats: operation.repeats?.operationId ?? null,
    started_at: isoTime(startedAt),
    ended_at: isoTime(endedAt),
    outcome: outcome === null ? null : outcomeView(outcome),
  })
}

function outcomeView(outcome: Outcome): z.infer<typeof OutcomeView> {
  const tokens = { prompt: outcome.promptTokens, completion: outcome.completionTokens }
  return viewOf(OutcomeView, outcome, { tokens })
}
