import { OpenAPIHono } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import { packageVersion } from '#platform/package-version.ts'
import type { SessionView } from '#schemas/session-schema.ts'
import type { ApiEnv, Caller } from '../../http/api-env.ts'
import { bearerToken } from '../../http/auth.ts'
import { endSession, keepSession } from '../../http/session-cookie.ts'
import { sessionEndpoints } from './session-endpoints.ts'

/** Sessions of the page: the browser keeps the token, and no script has it. */
export function sessionRoutes(): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(sessionEndpoints.begin, (c) => {
    const token = bearerToken(c.req.header('authorization'))
    if (token === undefined) throw new AppError('AUTH_001', 'Send the token in the header `authorization`.')
    keepSession(c, token)
    return c.json(sessionView(c.get('caller')), 200)
  })
  routes.openapi(sessionEndpoints.read, (c) => c.json(sessionView(c.get('caller')), 200))
  routes.openapi(sessionEndpoints.end, (c) => {
    endSession(c)
    return c.body(null, 204)
  })
  return routes
}

function sessionView({ projectId, tokenId, name, scopes }: Caller): SessionView {
  return {
    project_id: projectId,
    token_id: tokenId,
    token_name: name ?? null,
    scopes: [...scopes],
    version: packageVersion(),
  }
}
