import { z } from '@hono/zod-openapi'
import { endpoint } from '../http/endpoint.ts'
import { Cursor, pageLimit } from '../http/query.ts'
import { OperationId } from '#domain/ids.ts'
import { RunParams } from '../runs/run-schema.ts'
import { ChangePage } from './change-schema.ts'

const PatchQuery = z.strictObject({
  of: z.literal('proposed', { error: 'only "proposed": accepted patches come with reviews' }).default('proposed'),
})

const ChangesQuery = z.strictObject({
  operation_id: OperationId.optional().openapi({
    description: 'only those of this operation, which may be one of a run before that this one tries again',
  }),
  cursor: Cursor,
  limit: pageLimit(100, 20),
})

/** What a run changed: its change sets, and their composed patch. */
export const changeEndpoints = {
  list: endpoint(
    { scope: 'runs:read', problems: ['RUN_001', 'RUN_004', 'RUN_005', 'STORE_002', 'STORE_003'] },
    {
      method: 'get',
      path: '/v1/runs/{run_id}/changes',
      operationId: 'listChanges',
      summary: 'Its change sets, each with its diff and evidence, also those that were left out of the patch',
      request: { params: RunParams, query: ChangesQuery },
      responses: { 200: { description: 'a page', content: { 'application/json': { schema: ChangePage } } } },
    },
  ),
  patch: endpoint(
    { scope: 'runs:read', problems: ['RUN_001', 'RUN_005', 'RUN_006', 'RUN_007', 'STORE_002', 'STORE_003'] },
    {
      method: 'get',
      path: '/v1/runs/{run_id}/patch',
      operationId: 'getPatch',
      summary: 'One diff of all its changes, for git apply',
      description:
        'RUN_006 before the run is composed, RUN_007 when it ended without a patch (cancelled, failed): a retry makes one.',
      request: { params: RunParams, query: PatchQuery },
      responses: {
        200: { description: 'the patch', content: { 'text/x-diff': { schema: z.string() } } },
        204: { description: 'nothing changed' },
      },
    },
  ),
} as const
