import { z } from '@hono/zod-openapi'
import { OperationId, RunId } from '#domain/ids.ts'
import { endpoint } from '../http/endpoint.ts'
import { ErrorPolicyShape, RunAccepted, RunLinks, RunParams, RunStatusShape } from '../runs/run-schema.ts'
import { IdempotencyHeader } from './idempotency.ts'

const submitProse = `
Two parts, \`request\` first, then \`archive\` (\`.tar\`, \`.tar.gz\`, \`.tgz\` or \`.zip\`), so that the archive flows on unbuffered:

\`\`\`
curl -H "Authorization: Bearer $REMORA_TOKEN" \\
  -F 'request={"agents":["lint","docstring"],"paths":["src"]};type=application/json' \\
  -F archive=@repository.tar.gz $REMORA_API_URL/v1/runs
\`\`\`

\`agents\` must name at least one. \`paths\` are files, folders or globs with \`*\`, \`?\`, \`[a-z]\`, \`{a,b}\` and \`**\` (at most
100 wildcards in all, braces expanded). \`error_policy\`: what becomes of the rest
[when an operation fails](../guide/operations.md#error-policies). \`priority\`: 0 goes
[first](../guide/operations.md#priorities-and-the-window). An agent whose bundle names a node kind or a language that no query pack has is AGENT_001, with the place
in its \`bundle.yaml\` in \`detail\`.

\`REMORA_MAX_UPLOADS\` are taken at once; others wait for up to 50 s, then they are LIMIT_002 (a
client that is still sending may see the connection cut instead): come again. While Redis is
[too full for another run](../guide/operations.md#room-in-redis), the answer is STORE_001 with the figures in \`detail\`.`

const retryProse = `
A new run over the same upload does again what did not end well in this one, or just the operations named; its patch also
holds what went well before. Its \`request\` is that of the former run, with \`retry_of\` (the former run) and, where they
were named, \`operations\` and \`error_policy\` (which takes the place of the former run's). \`earlier_change_sets\` of its
event \`run.composed\` counts the change sets that went well before. One that ended before its patch was composed gets it by a
retry also when all its operations ended well. RUN_006 while the former run goes on, INTAKE_007 when there is nothing to do
again, RUN_004 for an operation it does not have.`

const refusals = ['INTAKE_001', 'INTAKE_003', 'INTAKE_005', 'INTAKE_006', 'INTAKE_007', 'INTAKE_008'] as const

/**
 * The form of a submission as the OpenAPI document shows it, under the name `RunSubmission`. No zod schema: one would make the
 * framework read the whole form before the route does. `intake/run-form.ts` reads the form, `intake/run-request.ts` the request.
 *
 * `contentMediaType` is what OpenAPI 3.1 says of binary parts; generators of clients look for `format: binary`.
 */
export const RunSubmission = {
  type: 'object' as const,
  required: ['request', 'archive'],
  properties: {
    request: { $ref: '#/components/schemas/RunRequest' },
    archive: { type: 'string' as const, format: 'binary', contentMediaType: 'application/octet-stream' },
  },
  additionalProperties: false,
}
const submissionForm = {
  schema: { $ref: '#/components/schemas/RunSubmission' },
  encoding: {
    request: { contentType: 'application/json' },
    archive: { contentType: 'application/octet-stream, application/gzip, application/x-tar, application/zip' },
  },
}

const CancelBody = z
  .strictObject({ reason: z.string().min(1).max(500).default('cancelled by its user') })
  .openapi('CancelRequest')
const RetryBody = z
  .strictObject({
    operations: z.array(OperationId).min(1).max(1000).optional(),
    error_policy: ErrorPolicyShape.optional(),
  })
  .openapi('RetryRequest')

const Cancelled = z
  .strictObject({ run_id: RunId, status: RunStatusShape, cancel_requested: z.literal(true), links: RunLinks })
  .openapi('RunCancelled')
const Retried = z.strictObject({ ...RunAccepted.shape, retry_of: RunId }).openapi('RunRetried')

/** Taking runs in, and what is asked of a run that is there. */
export const intakeEndpoints = {
  submit: endpoint(
    {
      scope: 'runs:write',
      problems: [...refusals, 'AGENT_001', 'HTTP_003', 'LIMIT_002', 'STORE_002'],
    },
    {
      method: 'post',
      path: '/v1/runs',
      operationId: 'submitRun',
      summary: 'Submit a run',
      description: submitProse.trim(),
      request: {
        headers: IdempotencyHeader,
        body: { required: true, content: { 'multipart/form-data': submissionForm } },
      },
      responses: { 202: { description: 'taken in', content: { 'application/json': { schema: RunAccepted } } } },
    },
  ),
  cancel: endpoint(
    { scope: 'runs:write', problems: ['RUN_001', 'RUN_005', 'RUN_007'] },
    {
      method: 'post',
      path: '/v1/runs/{run_id}/cancel',
      operationId: 'cancelRun',
      summary: 'Ask a run to stop',
      description:
        'The answer comes at once; the run ends `cancelled` a moment later. Asking again changes nothing. RUN_007 for one that has ended otherwise.',
      request: { params: RunParams, body: { content: { 'application/json': { schema: CancelBody } } } },
      responses: { 202: { description: 'asked', content: { 'application/json': { schema: Cancelled } } } },
    },
  ),
  retry: endpoint(
    {
      scope: 'runs:write',
      problems: ['RUN_001', 'RUN_004', 'RUN_005', 'RUN_006', 'RUN_009', 'INTAKE_005', 'INTAKE_007'],
    },
    {
      method: 'post',
      path: '/v1/runs/{run_id}/retry',
      operationId: 'retryRun',
      summary: 'Try again what did not end well',
      description: retryProse.trim(),
      request: {
        params: RunParams,
        headers: IdempotencyHeader,
        body: { content: { 'application/json': { schema: RetryBody } } },
      },
      responses: { 202: { description: 'the new run', content: { 'application/json': { schema: Retried } } } },
    },
  ),
} as const
