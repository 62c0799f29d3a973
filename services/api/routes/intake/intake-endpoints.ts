import { BudgetBody, CancelBody, Cancelled, Deleting, Retried, RetryBody } from '#schemas/intake-schema.ts'
import { BudgetView, RunAccepted, RunParams } from '#schemas/run-schema.ts'
import { endpoint, jsonAnswer, jsonBody } from '../../http/endpoint.ts'
import { IdempotencyHeader } from '#stages/intake/idempotency.ts'

const submitProse = `
Two parts, in either order: \`request\` (JSON) and \`archive\` (\`.tar\`, \`.tar.gz\`, \`.tgz\` or \`.zip\`). With \`request\` first,
a wrong request is refused before the archive is read:

\`\`\`
curl -H "Authorization: Bearer $REMORA_TOKEN" \\
  -F 'request={"agents":["lint","docstring"],"paths":["src"]};type=application/json' \\
  -F archive=@repository.tar.gz $REMORA_API_URL/v1/runs
\`\`\`

\`paths\` are files, folders or globs with \`*\`, \`?\`, \`[a-z]\`, \`{a,b}\` and \`**\` (at most
100 wildcards in all, braces expanded). \`error_policy\`: what happens to the rest
when an operation fails. \`priority\`: 0 goes first. An agent whose bundle names a node kind or a language that no
query pack has is refused with AGENT_001; \`detail\` gives the place in its \`bundle.yaml\`.

As \`application/json\` it has a repository instead of an archive: the fields of \`request\`, and \`repository\`. GitHub is then asked for
the code of \`ref\`. The GitHub App has to be installed on the repository, for the project of the token; any other one is HOST_002:

\`\`\`
curl -H "Authorization: Bearer $REMORA_TOKEN" -H 'Content-Type: application/json' \\
  -d '{"agents":["lint"],"repository":{"url":"octocat/hello-world","ref":"main"}}' $REMORA_API_URL/v1/runs
\`\`\`

The service accepts \`REMORA_MAX_UPLOADS\` uploads at once. Another one waits for up to 50 s, then it is refused with LIMIT_002
(a client that is still sending may see its connection closed instead): try again later. While Redis is
too full for another run, the answer is STORE_001 with the figures in \`detail\`.`

const retryProse = `
Begins the next generation of a run that has ended, however it ended. It repeats the operations that did not end well, or only those that are
named, or, with \`codes\`, those that failed or were blocked with one of these error codes, whatever their number, and those
that were skipped only because of them, or, with \`rejected\`, the agents' operations whose change set was rejected with a reason
and that were not tried again since: their prompts have what was said and what it was said of. What the run had not planned at its end is planned,
too, unless something else is asked for. The run goes on under its id: its event \`run.reopened\` comes first, what succeeded before stays, and
the patch is composed anew of all. \`error_policy\` replaces the one that the run had. A run that ended before its patch was composed can be
retried even when all its operations ended well. RUN_006 while the run is going on, or where
operations are named and it ended before all of its work was planned,
INTAKE_007 when there is nothing to repeat, no operation failed with one of the codes or none was rejected with a reason, INTAKE_008
for two of \`operations\`, \`codes\` and \`rejected\`, RUN_004 for an operation that the run does not have.`

const refusals = ['INTAKE_001', 'INTAKE_003', 'INTAKE_005', 'INTAKE_006', 'INTAKE_008', 'SETUP_002'] as const

/**
 * The form as the OpenAPI document shows it. A zod schema would make the framework read the whole form before the route does. OpenAPI 3.1
 * marks binary parts by `contentMediaType`; client generators look for `format: binary`.
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

const deleteProse = `
From the answer on the run is unknown to every other request. Its upload, records, events, results and the blobs that no other run
of the project refers to are removed a moment later: until then the answer is 202 again,
afterwards 404 RUN_001. RUN_006 for a run that has not ended: cancel it first.`

export const intakeEndpoints = {
  submit: endpoint(
    'runs:write',
    [...refusals, 'AGENT_001', 'HTTP_003', 'LIMIT_002', 'LIMIT_003', 'HOST_002', 'STORE_002'],
    {
      method: 'post',
      path: '/v1/runs',
      operationId: 'submitRun',
      summary: 'Submit a run',
      description: submitProse.trim(),
      request: {
        headers: IdempotencyHeader,
        body: {
          required: true,
          content: {
            'multipart/form-data': submissionForm,
            'application/json': { schema: { $ref: '#/components/schemas/RepositoryRunRequest' } },
          },
        },
      },
      responses: { 202: jsonAnswer('accepted', RunAccepted) },
    },
  ),
  cancel: endpoint('runs:write', ['RUN_007'], {
    method: 'post',
    path: '/v1/runs/{run_id}/cancel',
    operationId: 'cancelRun',
    summary: 'Ask a run to stop',
    description:
      'The answer comes at once; the run ends `cancelled` a moment later. Asking again changes nothing. RUN_007 for one that has ended otherwise.',
    request: { params: RunParams, body: jsonBody(CancelBody) },
    responses: { 202: jsonAnswer('the run was asked to stop', Cancelled) },
  }),
  budget: endpoint('runs:write', ['RUN_007'], {
    method: 'put',
    path: '/v1/runs/{run_id}/budget',
    operationId: 'setRunBudget',
    summary: 'Say how many tokens a run may use',
    description:
      'A run that waits for its budget goes on when this is more than it has used. One that has used more already starts nothing more with a model.',
    request: { params: RunParams, body: jsonBody(BudgetBody) },
    responses: { 200: jsonAnswer('the budget, and what is used of it', BudgetView) },
  }),
  delete: endpoint('runs:write', ['RUN_006'], {
    method: 'delete',
    path: '/v1/runs/{run_id}',
    operationId: 'deleteRun',
    summary: 'Delete a run that has ended',
    description: deleteProse.trim(),
    request: { params: RunParams },
    responses: { 202: jsonAnswer('it is being deleted', Deleting) },
  }),
  retry: endpoint('runs:write', ['RUN_004', 'RUN_006', 'RUN_009', 'INTAKE_005', 'INTAKE_007', 'LIMIT_003'], {
    method: 'post',
    path: '/v1/runs/{run_id}/retry',
    operationId: 'retryRun',
    summary: 'Retry what did not end well',
    description: retryProse.trim(),
    request: {
      params: RunParams,
      headers: IdempotencyHeader,
      body: jsonBody(RetryBody),
    },
    responses: { 202: jsonAnswer('the run, and its new generation', Retried) },
  }),
} as const
