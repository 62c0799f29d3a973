import { OpenAPIHono } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import type { ApiEnv } from '../http/api-env.ts'
import { bearerToken } from '../http/auth.ts'
import { createToken, type CreateTokenDeps } from './create-token.ts'
import { tokenEndpoints } from './token-endpoints.ts'
import type { TokenTable } from './token-table.ts'
import { tokenView } from './token-view.ts'

export type TokenRouteDeps = CreateTokenDeps & { table: Pick<TokenTable, 'forget'> }

/** Making, listing and revoking the tokens of the caller's project. */
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
    const [records, uses] = await Promise.all([store.readAll(), store.lastUses()])
    const own = [...records.values()].filter(({ projectId }) => projectId === c.get('caller').projectId)
    const newest = own.toSorted((a, b) => b.createdAt - a.createdAt || (a.tokenId < b.tokenId ? -1 : 1))
    const now = Date.now()
    const views = newest.map((record) => tokenView(record, { lastUsedAt: uses.get(record.tokenId) ?? null, now }))
    return c.json({ tokens: views }, 200)
  })
  routes.openapi(tokenEndpoints.revoke, async (c) => {
    const { token_id: tokenId } = c.req.valid('param')
    const { projectId } = c.get('caller')
    const found = [...(await store.readAll())].find(([, token]) => token.tokenId === tokenId)
    if (found?.[1].projectId !== projectId) throw new AppError('AUTH_003', `There is no token "${tokenId}".`)
    await store.remove([found[0]])
    table.forget()
    return c.body(null, 204)
  })
  return routes
}
