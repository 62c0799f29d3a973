import { timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { allScopes } from '#domain/scope.ts'
import type { ApiEnv, Caller } from './api-env.ts'
import { AskAgain } from './problem.ts'
import { addressKey, type RateLimit } from './rate-limit.ts'
import { pageHeader, sessionToken } from './session-cookie.ts'
import type { SharedRateLimit } from './shared-rate-limit.ts'

/** `hash` is the hex SHA-256 of its text. Its owner is the operator. */
export type AccessToken = { readonly hash: string; readonly projectId: string }

export type AuthDeps = {
  tokens: readonly AccessToken[]
  findStored(token: string, hash: string): Promise<Caller | undefined>
  perToken: RateLimit
  /** It counts the requests to all processes of the API together. */
  perMinute: SharedRateLimit
  /** It counts requests with unknown tokens by address (IPv6: its /64). */
  perAddress: RateLimit
}

const wantedToken =
  'The token is missing, unknown, expired or revoked: send "Authorization: Bearer <token>" (REMORA_TOKEN of the command line).'

/** AUTH_001 without a known token. LIMIT_001 for a token over its limit, and for an address that sends unknown ones again and again. */
export function bearerAuth(deps: AuthDeps): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const { req } = context
    const given =
      bearerToken(req.header('authorization')) ??
      offeredToken(req.header('sec-websocket-protocol')) ??
      sessionToken(context)
    const callerNow = () => callerOf(given, deps)
    const caller = await callerNow()
    if (caller === undefined) {
      const address = addressKey(context.env?.incoming?.socket.remoteAddress ?? 'unknown')
      if (deps.perAddress.take(address)) throw new AppError('AUTH_001', wantedToken)
      throw new AppError('LIMIT_001', 'Too many requests without a known token from this address.')
    }
    const shown = req.header(pageHeader)
    if (shown !== undefined && shown !== caller.tokenId)
      throw new AppError('AUTH_001', 'Another token is used in this browser by now: load the page anew.')
    context.set('caller', caller)
    context.set('callerNow', callerNow)
    if (!deps.perToken.take(caller.tokenId)) {
      throw new AppError('LIMIT_001', 'Too many requests with this token: slow down.')
    }
    const { requestsPerMinute = null } = caller.limits ?? {}
    const waitMs = requestsPerMinute === null ? 0 : await deps.perMinute.take(caller.tokenId, requestsPerMinute)
    if (waitMs > 0) {
      const message = `This token may send ${requestsPerMinute} requests a minute: slow down.`
      throw new AskAgain('LIMIT_001', message, Math.ceil(waitMs / 1000))
    }
    await next()
  }
}

export function bearerToken(header: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
}

/** A browser can give a WebSocket no header of its own, so the token is among the protocols that it offers: `remora.bearer.<base64url>`. */
function offeredToken(protocols: string | undefined): string | undefined {
  const offered = /(?:^|[\s,])remora\.bearer\.([\w-]+)/.exec(protocols ?? '')?.[1]
  return offered === undefined ? undefined : Buffer.from(offered, 'base64url').toString()
}

async function callerOf(given: string | undefined, deps: AuthDeps): Promise<Caller | undefined> {
  if (given === undefined) return undefined
  const hash = sha256(given)
  return ofEnvironment(hash, deps.tokens) ?? deps.findStored(given, hash)
}

/** Compares with every token in constant time, so that the time it takes reveals nothing about any of them. */
function ofEnvironment(hash: string, tokens: readonly AccessToken[]): Caller | undefined {
  const bytes = Buffer.from(hash, 'hex')
  const given = tokens.filter((token) => timingSafeEqual(bytes, Buffer.from(token.hash, 'hex'))).at(-1)
  const { projectId } = given ?? {}
  if (projectId === undefined) return undefined
  return { projectId, scopes: allScopes, tokenId: `environment/${projectId}`, isOperator: true }
}
