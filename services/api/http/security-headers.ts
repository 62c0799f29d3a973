import type { MiddlewareHandler } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import type { ApiEnv } from './api-env.ts'

/** Nothing of an answer may be kept by a cache, or loaded, framed or guessed at by a browser. */
export const safeHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** These and the usual others; a page that needs more says so itself. */
export function securityHeaders(): MiddlewareHandler<ApiEnv> {
  const addUsual = secureHeaders({ overwrite: false })
  return (context, next) =>
    addUsual(context, async () => {
      await next()
      for (const [name, value] of Object.entries(safeHeaders)) {
        if (!context.res.headers.has(name)) context.header(name, value)
      }
    })
}
