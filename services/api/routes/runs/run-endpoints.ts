import { z } from '@hono/zod-openapi'
import { OperationId, RunId } from '#domain/ids.ts'
import { OperationPage, OperationView } from '#schemas/operation-schema.ts'
import { PlanView } from '#schemas/plan-schema.ts'
import { OperationStatusShape, RunPage, RunParams, RunView } from '#schemas/run-schema.ts'
import { IdempotencyHeader } from '#stages/intake/idempotency.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'
import { Cursor, pageLimit } from '../../http/schema-parts.ts'

const resultProse = `
For programs that share the work on what runs come to. The first one that asks gets the run, with the same \`Idempotency-Key\` again and
again; any other RUN_010, with \`taken_by\` and \`taken_at\`. RUN_006 before the run has ended. A run that is retried has a new result. Nothing
else changes: everybody may still read the run until it is deleted, taken or not, \`events.retention_s\` after its end.`

export const runEndpoints = {
  list: endpoint('runs:read', [], {
    method: 'get',
    path: '/v1/runs',
    operationId: 'listRuns',
    summary: 'The runs of the project, newest first',
    request: {
      query: z.strictObject({
        before: RunId.optional().openapi({ description: '`next` of the page before' }),
        limit: pageLimit(100, 20),
        ended: z.literal('false').optional().openapi({ description: '`false`: only those that have not ended' }),
      }),
    },
    responses: { 200: jsonAnswer('a page', RunPage) },
  }),
  get: endpoint('runs:read', ['RUN_001', 'RUN_005', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}',
    operationId: 'getRun',
    summary: 'The state of a run',
    request: { params: RunParams },
    responses: { 200: jsonAnswer('the run', RunView) },
  }),
  result: endpoint('runs:write', ['RUN_001', 'RUN_005', 'RUN_006', 'RUN_010', 'STORE_003'], {
    method: 'post',
    path: '/v1/runs/{run_id}/result',
    operationId: 'takeResult',
    summary: 'Take the result of a run, which one alone gets',
    description: resultProse.trim(),
    request: { params: RunParams, headers: IdempotencyHeader },
    responses: { 200: jsonAnswer('the run, as it has ended', RunView) },
  }),
  plan: endpoint('runs:read', ['RUN_001', 'RUN_004', 'RUN_005', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/plan',
    operationId: 'getRunPlan',
    summary: 'What its planning decided, and why it left out the rest; RUN_004 before it is planned',
    request: { params: RunParams },
    responses: { 200: jsonAnswer('the plan', PlanView) },
  }),
  operations: endpoint('runs:read', ['RUN_001', 'RUN_005'], {
    method: 'get',
    path: '/v1/runs/{run_id}/operations',
    operationId: 'listOperations',
    summary: 'Its operations, in the order of the plan',
    request: {
      params: RunParams,
      query: z.strictObject({ status: OperationStatusShape.optional(), cursor: Cursor, limit: pageLimit(500, 100) }),
    },
    responses: { 200: jsonAnswer('a page', OperationPage) },
  }),
  operation: endpoint('runs:read', ['RUN_001', 'RUN_004', 'RUN_005'], {
    method: 'get',
    path: '/v1/runs/{run_id}/operations/{operation_id}',
    operationId: 'getOperation',
    summary: 'One operation with its node, attempt and outcome',
    request: { params: RunParams.extend({ operation_id: OperationId }) },
    responses: { 200: jsonAnswer('the operation', OperationView) },
  }),
} as const
