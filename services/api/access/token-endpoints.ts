import { z } from '@hono/zod-openapi'
import { ProjectId } from '#domain/ids.ts'
import { maxOpenRuns } from '#domain/run.ts'
import { Scope, usualScopes } from '#domain/scope.ts'
import { endpoint, jsonAnswer } from '../http/endpoint.ts'
import { IdempotencyHeader } from '../intake/idempotency.ts'
import { named, Time } from '../http/schema-parts.ts'
import { isTokenText, TokenId } from './token-record.ts'

const tenYearsS = 10 * 365 * 24 * 60 * 60

/** `\P{Cc}` for readers of the OpenAPI document whose patterns do not support Unicode properties. */
const noControlCharacters = String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`

const ScopeShape = named('Scope', Scope)

const TokenParams = z.object({ token_id: TokenId })

const RequestsPerMinute = z.int().min(1).max(1_000_000)
const OpenRuns = z.int().min(1).max(maxOpenRuns)

export const TokenRequest = z
  .strictObject({
    name: z
      .string()
      .max(100)
      .regex(/^\P{Cc}*$/u, 'no control characters')
      .default('')
      .openapi({ description: 'a name to recognise it by', pattern: noControlCharacters }),
    scopes: z
      .array(ScopeShape)
      .min(1)
      .max(Scope.options.length)
      .default([...usualScopes]),
    expires_in_s: z.int().min(60).max(tenYearsS).optional().openapi({ description: 'absent: it does not expire' }),
    requests_per_minute: RequestsPerMinute.optional().openapi({
      description: 'how many it may send at once, and a minute in the long run',
    }),
    runs: OpenRuns.optional().openapi({ description: 'how many of its runs may go on at the same time' }),
    project_id: ProjectId.optional().meta({ description: 'absent: your own; only the operator may name another' }),
  })
  .openapi('TokenRequest')
export type TokenRequest = z.infer<typeof TokenRequest>

/** A token without its text. */
export const TokenView = z
  .strictObject({
    token_id: TokenId,
    name: z.string(),
    project_id: ProjectId,
    scopes: z.array(ScopeShape),
    created_at: Time,
    expires_at: Time.nullable(),
    expired: z.boolean(),
    requests_per_minute: RequestsPerMinute.nullable().openapi({ description: 'null: as the settings say' }),
    runs: OpenRuns.nullable().openapi({ description: 'that may go on at the same time; null: as the settings say' }),
    last_used_at: Time.nullable().openapi({ description: 'to about a minute' }),
  })
  .openapi('Token')
export type TokenView = z.infer<typeof TokenView>

export const TokenCreated = z
  .strictObject({
    ...TokenView.shape,
    token: z.string().refine(isTokenText).openapi({ description: 'its text, shown only here' }),
  })
  .openapi('TokenCreated')

const UnreadableToken = z.strictObject({ token_id: TokenId }).openapi('UnreadableToken')

export const TokenPage = z
  .strictObject({
    tokens: z.array(TokenView),
    unreadable: z
      .array(UnreadableToken)
      .openapi({ description: 'damaged, or of a newer version: they grant nothing here, and can be revoked' }),
  })
  .openapi('TokenPage')

const createProse = `
The text of the token is in this answer only: Remora stores its SHA-256. Scopes: \`runs:read\` (read runs and patches),
\`runs:write\` (submit, cancel, retry, delete), \`tokens:admin\` (create, list and revoke tokens; it can give any scope, so it
amounts to all in its project). No scope implies another. Without \`scopes\` the token gets \`runs:read\` and \`runs:write\`.
At most 1,000 tokens, of which the owners of \`tokens:admin\` make up to 250 in their project; INTAKE_003 above that. An \`Idempotency-Key\` whose token was revoked is INTAKE_005.
A token has limits of its own, or those of the settings. What a token makes has no higher ones
than it has itself (INTAKE_008), and without any named has its own; the operator may give any.`

/** Tokens of the caller's project, stored as hashes; the operator manages those of every project. */
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
