import { z } from '@hono/zod-openapi'
import { TokenId } from '#domain/id-schemas.ts'
import { ProjectId } from '#domain/ids.ts'
import { TokenCreated, TokenPage, TokenRequest } from '#schemas/token-schema.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'
import { IdempotencyHeader } from '#stages/intake/idempotency.ts'

const TokenParams = z.object({ token_id: TokenId })

const createProse = `
The text of the token is in this answer only: Remora stores its SHA-256. Scopes: \`runs:read\` (read runs and patches),
\`runs:write\` (submit, cancel, retry, delete), \`tokens:admin\` (create, list and revoke tokens; it can give any scope, so it
amounts to all in its project). No scope implies another. Without \`scopes\` the token gets \`runs:read\` and \`runs:write\`.
At most 1,000 tokens, of which the owners of \`tokens:admin\` make up to 250 in their project; INTAKE_003 above that. An \`Idempotency-Key\` whose token was revoked is INTAKE_005.
A token has limits of its own, or those of the settings. What a token makes has no higher ones
than it has itself (INTAKE_008), and without any named has its own; the operator may give any.`

export const tokenEndpoints = {
  create: endpoint('tokens:admin', ['INTAKE_005', 'PROJECT_001'], {
    method: 'post',
    path: '/v1/tokens',
    operationId: 'createToken',
    summary: 'Make a token',
    description: createProse.trim(),
    request: {
      headers: IdempotencyHeader,
      body: { content: { 'application/json': { schema: TokenRequest } } },
    },
    responses: { 201: jsonAnswer('the token', TokenCreated) },
  }),
  list: endpoint('tokens:admin', [], {
    method: 'get',
    path: '/v1/tokens',
    operationId: 'listTokens',
    summary: 'The tokens of the project, newest first',
    description:
      'Expired ones are listed for 30 days. `REMORA_TOKEN` of the environment is not in the list. One whose record cannot be read is under `unreadable`; one whose project cannot be read either is shown to the operator alone.',
    request: {
      query: z.strictObject({
        project_id: ProjectId.optional().openapi({ description: 'absent: yours; only the operator may name another' }),
      }),
    },
    responses: { 200: jsonAnswer('all of them', TokenPage) },
  }),
  revoke: endpoint('tokens:admin', ['AUTH_003'], {
    method: 'delete',
    path: '/v1/tokens/{token_id}',
    operationId: 'revokeToken',
    summary: 'Revoke a token',
    description:
      'The operator may revoke those of every project. It stops working at once in the process that answers, within 2 s in every other; its open streams of events end within 6 s.',
    request: { params: TokenParams },
    responses: { 204: { description: 'revoked' } },
  }),
} as const
