import { OpenAPIHono } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import type { ApiEnv, Caller } from '../http/api-env.ts'
import { bearerToken } from '../http/auth.ts'
import { createToken, type CreateTokenDeps } from './create-token.ts'
import { tokenEndpoints, TokenView } from './token-endpoints.ts'
import type { TokenTable } from './token-table.ts'
import { isoTime, viewOf } from '../http/schema-parts.ts'
import type { TokenRecord } from './token-record.ts'

export type TokenRouteDeps = CreateTokenDeps & { table: Pick<TokenTable, 'forget'> }

/** Creating, listing and revoking the tokens of the caller's project. */
export function tokenRoutes(deps: TokenRouteDeps): OpenAPIHono<ApiEnv> {
  const { store, table } = deps
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(tokenEndpoints.create, async (c) => {
    const request = c.req.valid('json')
    const idempotencyKey = c.req.valid('header')['idempotency-key']
    const asker = bearerToken(c.req.header('authorization')) ?? ''
    const { projectId } = c.get('caller')
    const { text, record } = await createToken({ request, projectId, asker, idempotencyKey }, deps)
    table.forget()
    return c.json({ ...tokenView(record, { lastUsedAt: null, now: Date.now() }), token: text }, 201)
  })
  routes.openapi(tokenEndpoints.list, async (c) => {
    const [{ records, unreadable }, uses] = await Promise.all([store.readAll(), store.lastUses()])
    const isOwn = ownedBy(c.get('caller'))
    const own = [...records.values()].filter(isOwn)
    const newest = own.toSorted((a, b) => b.createdAt - a.createdAt || (a.tokenId < b.tokenId ? -1 : 1))
    const now = Date.now()
    const views = newest.map((record) => tokenView(record, { lastUsedAt: uses.get(record.tokenId) ?? null, now }))
    const damaged = [...unreadable.values()].filter(isOwn).map(({ tokenId }) => ({ token_id: tokenId }))
    return c.json({ tokens: views, unreadable: damaged }, 200)
  })
  routes.openapi(tokenEndpoints.revoke, async (c) => {
    const { token_id: tokenId } = c.req.valid('param')
    const isOwn = ownedBy(c.get('caller'))
    const { records, unreadable } = await store.readAll()
    const found = [...records, ...unreadable].filter(([, token]) => token.tokenId === tokenId && isOwn(token))
    if (found.length === 0) throw new AppError('AUTH_003', `There is no token "${tokenId}".`)
    await store.remove(found.map(([hash]) => hash))
    table.forget()
    return c.body(null, 204)
  })
  return routes
}

/** A token whose project cannot be read may be revoked by anybody who manages tokens. */
function ownedBy(caller: Caller): (token: { projectId: string | undefined }) => boolean {
  return ({ projectId }) => projectId === undefined || projectId === caller.projectId
}

/** A token as those who manage it see it. Times are milliseconds since the epoch. */
function tokenView(record: TokenRecord, { lastUsedAt, now }: { lastUsedAt: number | null; now: number }): TokenView {
  const { createdAt, expiresAt } = record
  return viewOf(TokenView, record, {
    created_at: isoTime(createdAt),
    expires_at: isoTime(expiresAt),
    expired: expiresAt !== null && expiresAt <= now,
    last_used_at: isoTime(lastUsedAt),
  })
}
