import { OpenAPIHono, z } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import { TokenCreated, TokenPage, TokenRequest, TokenView } from '#schemas/token-schema.ts'
import type { ApiEnv, Caller } from '../../http/api-env.ts'
import { bearerToken } from '../../http/auth.ts'
import { endpoint, jsonAnswer, jsonBody, requireOperator } from '../../http/endpoint.ts'
import { createToken, type CreateTokenDeps } from './create-token.ts'
import { findProject, type ProjectRouteDeps } from './project-routes.ts'
import type { TokenTable } from './token-table.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'
import type { TokenRecord } from './token-record.ts'
import { TokenId } from '#domain/id-schemas.ts'
import { ProjectId } from '#domain/ids.ts'
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
      body: jsonBody(TokenRequest),
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

export type TokenRouteDeps = CreateTokenDeps & ProjectRouteDeps & { table: Pick<TokenTable, 'forget'> }

export function tokenRoutes(deps: TokenRouteDeps): OpenAPIHono<ApiEnv> {
  const { store, table } = deps
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(tokenEndpoints.create, async (c) => {
    const request = c.req.valid('json')
    const idempotencyKey = c.req.valid('header')['idempotency-key']
    const asker = bearerToken(c.req.header('authorization')) ?? ''
    const caller = c.get('caller')
    const projectId = projectOf(request.project_id, caller)
    if (projectId !== caller.projectId) await findProject(projectId, deps.projects)
    const { text, record } = await createToken({ request, projectId, caller, asker, idempotencyKey }, deps)
    table.forget()
    return c.json({ ...tokenView(record, { lastUsedAt: null, now: Date.now() }), token: text }, 201)
  })
  routes.openapi(tokenEndpoints.list, async (c) => {
    const [{ records, unreadable }, uses] = await Promise.all([store.readAll(), store.lastUses()])
    const caller = c.get('caller')
    const projectId = projectOf(c.req.valid('query').project_id, caller)
    const isNobodys = (token: OwnedToken) => caller.isOperator && token.projectId === undefined
    const isOwn = (token: OwnedToken) => token.projectId === projectId || isNobodys(token)
    const own = [...records.values()].filter(isOwn)
    const newest = own.toSorted((a, b) => b.createdAt - a.createdAt || (a.tokenId < b.tokenId ? -1 : 1))
    const now = Date.now()
    const views = newest.map((record) => tokenView(record, { lastUsedAt: uses.get(record.tokenId) ?? null, now }))
    const damaged = [...unreadable.values()].filter(isOwn).map(({ tokenId }) => ({ token_id: tokenId }))
    return c.json({ tokens: views, unreadable: damaged }, 200)
  })
  routes.openapi(tokenEndpoints.revoke, async (c) => {
    const { token_id: tokenId } = c.req.valid('param')
    const { isOperator, projectId } = c.get('caller')
    const isOwn = (token: OwnedToken) => isOperator || token.projectId === projectId
    const { records, unreadable } = await store.readAll()
    const tokens = [...records, ...unreadable].filter(([, token]) => token.tokenId === tokenId && isOwn(token))
    if (tokens.length === 0) throw new AppError('AUTH_003', `There is no token "${tokenId}".`)
    await store.remove(tokens.map(([hash]) => hash))
    table.forget()
    return c.body(null, 204)
  })
  return routes
}

/** The operator may name any project; AUTH_002 for others. */
function projectOf(wanted: string | undefined, caller: Caller): string {
  if (wanted !== undefined && wanted !== caller.projectId) requireOperator(caller)
  return wanted ?? caller.projectId
}

type OwnedToken = { projectId: string | undefined }

/** Times are milliseconds since the epoch. */
function tokenView(record: TokenRecord, { lastUsedAt, now }: { lastUsedAt: number | null; now: number }): TokenView {
  const { createdAt, expiresAt } = record
  return viewOf(TokenView, record, {
    created_at: isoTime(createdAt),
    expires_at: isoTime(expiresAt),
    expired: expiresAt !== null && expiresAt <= now,
    last_used_at: isoTime(lastUsedAt),
    requests_per_minute: record.requestsPerMinute ?? null,
    runs: record.runs ?? null,
  })
}
