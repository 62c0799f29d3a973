import type { HttpBindings } from '@hono/node-server'
import type { AppError } from '#domain/error.ts'
import type { Scope } from '#domain/scope.ts'

/** null: no limit. `runs`: that have not ended at the same time. */
export type TokenLimits = { readonly requestsPerMinute: number | null; readonly runs: number | null }

/** The owner of a request's token. */
export type Caller = {
  readonly projectId: string
  readonly scopes: readonly Scope[]
  /** Names the token in logs, which never show its text. */
  readonly tokenId: string
  /** What people call the token, if it has a name. */
  readonly name?: string
  /** Whether it is the token of the environment, which alone acts for other projects than its own. */
  readonly isOperator: boolean
  /** What holds for it: its own, or those of the settings; the operator has none. */
  readonly limits?: TokenLimits
  /** Those that it was given itself, which what it makes gets as well. The settings may change. */
  readonly ownLimits?: TokenLimits
}

/** Names the caller in a line of the log. */
export function loggedCaller({ tokenId, name }: Caller): { token: string; token_name?: string } {
  return { token: tokenId, ...(name !== undefined && { token_name: name }) }
}

/** What the middlewares set for the handlers. The bindings exist on a real port only, not in a test without one. */
export type ApiEnv = {
  Bindings: Partial<HttpBindings>
  Variables: {
    caller: Caller
    /** Looks the token up again: undefined once it is revoked or expired. STORE_001 when that cannot be done. */
    callerNow: () => Promise<Caller | undefined>
    requestId: string
    /** Why the request failed, where that is due to a store. */
    storeFault?: AppError
  }
}
