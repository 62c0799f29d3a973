import { endpoint } from '../http/endpoint.ts'
import { IdempotencyHeader } from '../intake/idempotency.ts'
import { TokenCreated, TokenPage, TokenParams, TokenRequest } from './token-schema.ts'

const createProse = `
The text of the token is in this answer and nowhere else: Remora keeps its SHA-256. Scopes: \`runs:read\` (look at runs and
patches), \`runs:write\` (submit, cancel, retry), \`tokens:admin\` (make, list and revoke tokens; it can give any scope, so it
amounts to all). No scope implies another. Without \`scopes\` the token gets \`runs:read\` and \`runs:write\`. At most 1,000
tokens; INTAKE_003 above that. An \`Idempotency-Key\` whose token was revoked is INTAKE_005.`

/** Tokens of the caller's project, stored as hashes. */
export const tokenEndpoints = {
  create: endpoint(
    { scope: 'tokens:admin', problems: ['INTAKE_005'] },
    {
      method: 'post',
      path: '/v1/tokens',
      operationId: 'createToken',
      summary: 'Make a token',
      description: createProse.trim(),
      request: {
        headers: IdempotencyHeader,
        body: { content: { 'application/json': { schema: TokenRequest } } },
      },
      responses: {
        201: { description: 'the token', content: { 'application/json': { schema: TokenCreated } } },
      },
    },
  ),
  list: endpoint(
    { scope: 'tokens:admin' },
    {
      method: 'get',
      path: '/v1/tokens',
      operationId: 'listTokens',
      summary: 'The tokens of the project, newest first',
      description:
        'Expired ones are listed for 30 days. `REMORA_TOKEN` of the environment is not in the list. One whose record cannot be read is under `unreadable`.',
      responses: { 200: { description: 'all of them', content: { 'application/json': { schema: TokenPage } } } },
    },
  ),
  revoke: endpoint(
    { scope: 'tokens:admin', problems: ['AUTH_003'] },
    {
      method: 'delete',
      path: '/v1/tokens/{token_id}',
      operationId: 'revokeToken',
      summary: 'Revoke a token',
      description:
        'It stops working at once in the process that answers, within 2 s in every other; its open streams of events end within 6 s.',
      request: { params: TokenParams },
      responses: { 204: { description: 'revoked' } },
    },
  ),
} as const
