import type { MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import type { ApiEnv } from './api-env.ts'

/** Nothing of an answer may be loaded, framed or guessed at by a browser; a page that needs more says so itself. */
export function securityHeaders(): MiddlewareHandler<ApiEnv> {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
    },
    xFrameOptions: 'DENY',
    overwrite: false,
  })
}

/** What is behind a token is kept by no cache. */
export function noStore(): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    await next()
    if (!context.res.headers.has('cache-control')) context.header('cache-control', 'no-store')
  }
}
