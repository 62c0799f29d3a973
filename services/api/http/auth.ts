import { timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/hash.ts'
import type { ApiEnv } from './api-env.ts'

/** A token the API accepts, kept as the hex SHA-256 of its text, and the project it opens. */
export type AccessToken = { readonly hash: string; readonly projectId: string }

/** Lets a request with a known bearer token through, as its project; any other is AUTH_001. */
export function bearerAuth(tokens: readonly AccessToken[]): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const projectId = projectOf(context.req.header('authorization'), tokens)
    if (projectId === undefined) {
      throw new AppError('AUTH_001', 'Send a known token as "Authorization: Bearer <token>".')
    }
    context.set('projectId', projectId)
    await next()
  }
}

/** Compares with every token in constant time, so that the time taken tells nothing about any of them. */
function projectOf(header: string | undefined, tokens: readonly AccessToken[]): string | undefined {
  const given = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
  if (given === undefined) return undefined
  const hash = Buffer.from(sha256(given), 'hex')
  let projectId: string | undefined
  for (const token of tokens) {
    if (timingSafeEqual(hash, Buffer.from(token.hash, 'hex'))) projectId = token.projectId
  }
  return projectId
}
