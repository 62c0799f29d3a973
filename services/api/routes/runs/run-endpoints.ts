import { z } from '@hono/zod-openapi'
import { OperationId, RunId } from '#domain/ids.ts'
import { OperationPage, OperationView } from '#schemas/operation-schema.ts'
import { PlanView } from '#schemas/plan-schema.ts'
import { OperationStatusShape, RunPage, RunParams, RunView } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'
import { Cursor, pageLimit } from '../../http/schema-parts.ts'

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
