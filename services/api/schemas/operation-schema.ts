import { z } from 'zod'
import { ItemId, OperationId, RunId } from '#domain/id-schemas.ts'
import { Operation, Outcome } from '#domain/operation.ts'
import { QuestionId } from '#domain/question.ts'
import { NodeShape } from './node-schema.ts'
import { OperationStatusShape, OperationWorkShape } from './run-schema.ts'
import { orNull, Time } from './wire-parts.ts'

const fields = Outcome.shape

/** Tokens of the requests to the model. */
export const TokenUse = z
  .strictObject({ prompt: fields.promptTokens, completion: fields.completionTokens })
  .meta({ id: 'TokenUse' })

export const OutcomeView = z
  .strictObject({
    status: fields.status.meta({ id: 'OutcomeStatus' }),
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
  .meta({ id: 'Outcome' })

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
    lost: z.int().meta({ description: 'how often its worker was lost' }),
    dependencies_left: z.int(),
    starts_from: z.array(OperationId).meta({ description: 'the operations whose changes it starts from' }),
    generation: z.int().meta({ description: 'of the run: the one that has planned it' }),
    repeats: OperationId.nullable().meta({
      description:
        'the first operation of the work that it does once more, in a retry or on top of changes that collided with its own',
    }),
    superseded_by: OperationId.nullable().meta({
      description: 'the operation that does its work once more: this one does not count any more',
    }),
    waits_for: QuestionId.nullable().meta({ description: 'the question it waits for' }),
    started_at: Time.nullable(),
    ended_at: Time.nullable(),
    item_id: ItemId.nullable().meta({ description: 'of the agenda, in a run with an objective' }),
    outcome: orNull(OutcomeView),
  })
  .meta({ id: 'Operation' })
export type OperationView = z.infer<typeof OperationView>

/** They are in the order of the plan. `next` is the `cursor` of the next page; null on the last. */
export const OperationPage = z
  .strictObject({ operations: z.array(OperationView), next: z.string().nullable() })
  .meta({ id: 'OperationPage' })
