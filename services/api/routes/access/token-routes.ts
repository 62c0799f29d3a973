import { OpenAPIHono } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import { TokenView } from '#schemas/token-schema.ts'
import type { ApiEnv, Caller } from '../../http/api-env.ts'
import { bearerToken } from '../../http/auth.ts'
import { requireOperator } from '../../http/endpoint.ts'
import { createToken, type CreateTokenDeps } from './create-token.ts'
import { findProject, type ProjectRouteDeps } from './project-routes.ts'
import { tokenEndpoints } from './token-endpoints.ts'
import type { TokenTable } from './token-table.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'
import type { TokenRecord } from './token-record.ts'

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
