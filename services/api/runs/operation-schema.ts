import { z } from '@hono/zod-openapi'
import { CodeNode } from '#domain/code-node.ts'
import { OperationId, RunId } from '#domain/ids.ts'
import { Operation, Outcome, OperationStatus } from '#domain/operation.ts'
import { Time } from './run-schema.ts'

const node = CodeNode.shape
const outcome = Outcome.shape

/** A named piece of source; lines are 1-based and inclusive, bytes 0-based with the end exclusive. */
export const NodeView = z
  .strictObject({
    node_id: node.nodeId,
    kind: node.kind,
    name: node.name,
    qualified_name: node.qualifiedName,
    path: z.string(),
    language: node.language,
    start_line: node.startLine,
    end_line: node.endLine,
    start_byte: node.startByte,
    end_byte: node.endByte,
    parent_id: node.parentId,
    hash: node.hash,
  })
  .openapi('Node')
export type NodeView = z.infer<typeof NodeView>

export const OutcomeView = z
  .strictObject({
    status: outcome.status,
    summary: outcome.summary,
    error_code: outcome.errorCode,
    phase: outcome.phase,
    reason: outcome.reason,
    record_hash: outcome.recordHash,
    change_set_id: outcome.changeSetId,
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
    bundle_hash: z.string(),
    node: NodeView,
    status: OperationStatus,
    priority: Operation.shape.priority,
    attempt: z.int(),
    lost: z.int().openapi({ description: 'how often its worker was lost' }),
    dependencies_left: z.int(),
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
