import { z } from '@hono/zod-openapi'
import { OperationId } from '#domain/ids.ts'
import { usualContext } from '#platform/unified-diff.ts'
import { ChangePage } from '#schemas/change-schema.ts'
import { ChangeFilter, DecisionsBody, DecisionsView } from '#schemas/decision-schema.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'
import { Cursor, pageLimit, wholeNumber } from '../../http/schema-parts.ts'

const ChangesQuery = z.strictObject({
  operation_id: OperationId.optional().openapi({
    description: 'only those of the work of this operation, in all generations of the run',
  }),
  change_set_id: z.string().min(1).max(64).optional().openapi({
    description: 'only this one, instead of those of an operation',
  }),
  ...ChangeFilter.shape,
  context: wholeNumber(0, 100)
    .default(usualContext)
    .openapi({ default: usualContext, description: 'so many unchanged lines are around each change of a diff' }),
  cursor: Cursor,
  limit: pageLimit(100, 20),
})

const decideProse = `
Each decision is an event, and the last one counts; they can be made while the run is running and as long as it is kept. There is
one decision on a change set, also when it is made just so again in a later generation. A decision with \`where\` leaves alone what people have accepted or rejected before, and \`left_alone\` counts it, unless
\`also_decided\` is true. What can be decided is decided, and the rest is in
\`refused\`: RUN_004 for a set that the run has not, WORK_001 to accept what changes the same place as something accepted, or is built
on something rejected, and to reject or take back what others are built on (unless \`with_dependents\` is true), WORK_004
what breaks a file by itself or together with it, WORK_003 for a decision on what somebody else has decided since you looked (give the
\`version\` that you have seen). Where nothing of it can be decided, the answer is 409 (404 for RUN_004) with the first refusal's
code, and the problem has \`refused_count\` and \`refused\`: so it is with \`all_or_none\` where anything is refused. What a set is built on is accepted with it. The same decision again changes nothing, so a request can be repeated.

With \`retry\` beside \`reject\` and a reason, the agents try again what was rejected:
when the run has ended, or at once if it has, in one generation of it that begins by itself. Rejected while that one still runs: in another one after its end.
To accept it or to undo the decision before takes that back; a run that is cancelled is not retried. \`retry\` of the answer names the generation.
RUN_009 when the services here have another kind of model than the run was begun with.`

export const changeEndpoints = {
  list: endpoint('runs:read', ['RUN_001', 'RUN_004', 'RUN_005', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/changes',
    operationId: 'listChanges',
    summary: 'Its change sets, each with its diff and evidence, also those that were left out of the patch',
    description:
      'For reading: secrets in a diff are shown as `[secret]`, so that git does not apply it. The patch has the bytes.',
    request: { params: RunParams, query: ChangesQuery },
    responses: { 200: jsonAnswer('a page', ChangePage) },
  }),
  decide: endpoint(
    'runs:write',
    [
      ...(['RUN_001', 'RUN_004', 'RUN_005', 'RUN_009', 'WORK_001', 'WORK_002', 'WORK_003', 'WORK_004'] as const),
      ...(['WORK_007', 'STORE_002', 'STORE_003'] as const),
    ],
    {
      method: 'post',
      path: '/v1/runs/{run_id}/decisions',
      operationId: 'decideChanges',
      summary: 'Accept or reject change sets, or take that back',
      description: decideProse.trim(),
      request: {
        params: RunParams,
        body: { required: true, content: { 'application/json': { schema: DecisionsBody } } },
      },
      responses: { 200: jsonAnswer('what was decided', DecisionsView) },
    },
  ),
} as const
