import { OpenAPIHono } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import { packageVersion } from '#platform/package-version.ts'
import { SessionView } from '#schemas/session-schema.ts'
import type { ApiEnv, Caller } from '../../http/api-env.ts'
import { bearerToken } from '../../http/auth.ts'
import { endSession, keepSession } from '../../http/session-cookie.ts'
import { endpoint, jsonAnswer } from '../../http/endpoint.ts'

const beginProse = `
Has the browser keep the token of the header as a cookie that no script reads (\`HttpOnly\`, \`SameSite=Strict\`). With the cookie a request that changes
something needs the header \`x-remora-page\` with the id of the token, and a WebSocket the \`Origin\` of the page.`

export const sessionEndpoints = {
  begin: endpoint('runs:read', [], {
    method: 'post',
    path: '/v1/session',
    operationId: 'setSession',
    summary: 'Keep the token in the browser',
    description: beginProse.trim(),
    responses: { 200: jsonAnswer('whose token it is', SessionView) },
  }),
  read: endpoint('runs:read', [], {
    method: 'get',
    path: '/v1/session',
    operationId: 'getSession',
    summary: 'Whose token this is',
    responses: { 200: jsonAnswer('whose it is', SessionView) },
  }),
  end: endpoint('runs:read', [], {
    method: 'delete',
    path: '/v1/session',
    operationId: 'deleteSession',
    summary: 'Have the browser forget the token',
    responses: { 204: { description: 'it is forgotten' } },
  }),
} as const

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
