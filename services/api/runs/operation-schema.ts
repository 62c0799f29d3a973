import { z } from '@hono/zod-openapi'
import { OperationId, RunId } from '#domain/ids.ts'
import { Operation, OperationStatus, OperationWork, Outcome } from '#domain/operation.ts'
import { QuestionId } from '#domain/question.ts'
import { NodeShape } from './node-schema.ts'
import { Time } from './run-schema.ts'

const outcome = Outcome.shape

export const OutcomeView = z
  .strictObject({
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
    tokens: z.strictObject({ prompt: outcome.promptTokens, completion: outcome.completionTokens }),
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
    work: OperationWork.openapi({ description: 'mechanical: a program did it, without a model' }),
    bundle_hash: z.string(),
    node: NodeShape,
    status: OperationStatus,
    priority: Operation.shape.priority,
    attempt: z.int(),
    lost: z.int().openapi({ description: 'how often its worker was lost' }),
    dependencies_left: z.int(),
    waits_for: QuestionId.nullable().openapi({ description: 'the question it waits for' }),
    started_at: Time.nullable(),
    ended_at: Time.nullable(),
    outcome: OutcomeView.nullable(),
  })
  .openapi('Operation')
export type OperationView = z.infer<typeof OperationView>

/** In the order of the plan. `next` is the `cursor` of the next page; null on the last. */
export const OperationPage = z
  .strictObject({ operations: z.array(OperationView), next: z.string().nullable() })
  .openapi('OperationPage')
