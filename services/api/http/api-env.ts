import type { HttpBindings } from '@hono/node-server'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { AppError } from '#domain/error.ts'
import type { Scope } from '#domain/scope.ts'

/** null means no limit. `runs` counts those that have not ended at the same time. */
export type TokenLimits = { readonly requestsPerMinute: number | null; readonly runs: number | null }

export type Caller = {
  readonly projectId: string
  readonly scopes: readonly Scope[]
  /** Names the token in logs, which never show its text. */
  readonly tokenId: string
  readonly name?: string
  /** It is true for the token of the environment, which alone acts for other projects than its own. */
  readonly isOperator: boolean
  /** They are the token's own, or those of the settings; the operator has none. */
  readonly limits?: TokenLimits
  /** The tokens that it makes get these as well; the settings may change. */
  readonly ownLimits?: TokenLimits
}

export function loggedCaller({ tokenId, name }: Caller): { token: string; token_name?: string } {
  return { token: tokenId, ...(name !== undefined && { token_name: name }) }
}

/** The bindings exist on a real port only. */
export type ApiEnv = {
  Bindings: Partial<HttpBindings> & {
    /** Changes over to a WebSocket; there for a request that asks for one. HTTP_004 when its handshake is wrong. */
    upgrade?: () => Promise<{ socket: WebSocket; connection: Duplex }>
  }
  Variables: {
    caller: Caller
    /** Looks the token up again: undefined once it is revoked or expired. STORE_001 when that cannot be done. */
    callerNow: () => Promise<Caller | undefined>
    requestId: string
    storeFault?: AppError
  }
}
