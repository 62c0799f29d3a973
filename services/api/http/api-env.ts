import type { HttpBindings } from '@hono/node-server'
import type { Scope } from '#domain/scope.ts'

/** Whose token a request came with. `tokenId` names the token in logs, never its text. */
export type Caller = { readonly projectId: string; readonly scopes: readonly Scope[]; readonly tokenId: string }

/**
 * What the middlewares leave for the handlers, and the id that ties logs to an answer. The bindings are those of a real
 * port; a test without one has none.
 */
export type ApiEnv = {
  Bindings: Partial<HttpBindings>
  Variables: {
    caller: Caller
    /** Whom the request's token stands for by now; nobody once it is revoked or expired. STORE_001 as when it came. */
    callerNow: () => Promise<Caller | undefined>
    requestId: string
  }
}
