import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { msSince } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { ApiEnv } from './api-env.ts'

/**
 * One line per request when its answer begins: the pattern of the route, never the address itself, whose query may hold
 * what is nobody's business. Probes are logged at `debug`.
 */
export function accessLog(log: Log): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const start = performance.now()
    await next()
    const route = routeOf(context.req.path, matchedRoutes(context))
    const caller: ApiEnv['Variables']['caller'] | undefined = context.get('caller')
    const write = route === '/healthz' || route === '/readyz' ? log.debug : log.info
    write('request', {
      method: context.req.method,
      route,
      status: context.res.status,
      ms: msSince(start),
      request_id: context.get('requestId'),
      project: caller?.projectId ?? null,
      token: caller?.tokenId ?? null,
    })
  }
}

/** Middlewares are routes as well, of a pattern that ends in `*`. */
function routeOf(path: string, routes: readonly { path: string }[]): string | null {
  return routes.findLast((route) => !route.path.endsWith('*'))?.path ?? (path.startsWith('/v1/') ? '/v1/*' : null)
}
