import { z } from 'zod'
import { endedOperationStatuses, type Operation, type Outcome } from '#domain/operation.ts'

const jsonObjects = z.array(z.record(z.string(), z.unknown())).default([])

/** What of a result only the attempt knows, as it goes over the wire (contract.md §3). */
export const ResultDetail = z.strictObject({
  details: z.record(z.string(), z.unknown()).default({}),
  findings: jsonObjects,
  learnings: jsonObjects,
  artifacts: jsonObjects,
  evidence: jsonObjects,
})
export type ResultDetail = z.infer<typeof ResultDetail>

/** One entry of the results stream: how one operation ended, for other programs. `tokens` is prompt plus completion. */
export const OperationResult = ResultDetail.extend({
  run_id: z.string(),
  operation_id: z.string(),
  node_id: z.string(),
  agent: z.string(),
  status: z.enum(endedOperationStatuses),
  summary: z.string(),
  changed_files: z.array(z.string()),
  error: z
    .strictObject({ error_code: z.string(), phase: z.string().optional(), reason: z.string().optional() })
    .optional(),
  turns: z.int(),
  tokens: z.int(),
  duration_ms: z.number(),
  change_set_id: z.string().optional(),
  change_set_ids: z.array(z.string()).optional(),
})
export type OperationResult = z.infer<typeof OperationResult>

type ResultSource = { operation: Pick<Operation, 'runId' | 'operationId' | 'bundle'>; nodeId: string; outcome: Outcome }

/** Builds the entry from what the ledger knows and what the attempt says; an operation nobody ran has no detail. */
export function resultOf(source: ResultSource, detail: Partial<ResultDetail> = {}): OperationResult {
  const { operation, nodeId, outcome } = source
  return OperationResult.parse({
    run_id: operation.runId,
    operation_id: operation.operationId,
    node_id: nodeId,
    agent: operation.bundle,
    status: outcome.status,
    summary: outcome.summary,
    changed_files: outcome.changedFiles,
    ...detail,
    ...(outcome.errorCode === undefined ? {} : { error: errorOf(outcome.errorCode, outcome) }),
    turns: outcome.turns,
    tokens: outcome.promptTokens + outcome.completionTokens,
    duration_ms: outcome.durationMs,
    ...(outcome.changeSetId === undefined ? {} : { change_set_id: outcome.changeSetId }),
    ...(outcome.changeSetIds === undefined ? {} : { change_set_ids: outcome.changeSetIds }),
  })
}

function errorOf(errorCode: string, { phase, reason }: Outcome): OperationResult['error'] {
  return {
    error_code: errorCode,
    ...(phase === undefined ? {} : { phase }),
    ...(reason === undefined ? {} : { reason }),
  }
}
