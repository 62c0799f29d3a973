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
  readonly name?: string
  /** Is true for the token of the environment, which alone acts for other projects than its own. */
  readonly isOperator: boolean
  /** Holds for the token: its own limits, or those of the settings; the operator has none. */
  readonly limits?: TokenLimits
  /** Has the limits that the token itself was given; the tokens that it makes get them as well. The settings may change. */
  readonly ownLimits?: TokenLimits
}

/** Names the caller in a line of the log. */
export function loggedCaller({ tokenId, name }: Caller): { token: string; token_name?: string } {
  return { token: tokenId, ...(name !== undefined && { token_name: name }) }
}

/** The middlewares set this for the handlers. The bindings exist on a real port only, not in a test without one. */
export type ApiEnv = {
  Bindings: Partial<HttpBindings>
  Variables: {
    caller: Caller
    /** Looks the token up again: undefined once it is revoked or expired. STORE_001 when that cannot be done. */
    callerNow: () => Promise<Caller | undefined>
    requestId: string
    /** Says why the request failed, where that is due to a store. */
    storeFault?: AppError
  }
}
