import { createHmac, randomBytes } from 'node:crypto'
import { AppError, unreachable } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import type { TokenRequest } from '#schemas/token-schema.ts'
import type { Caller, TokenLimits } from '../../http/api-env.ts'
import type { IdempotencyStore } from '#stages/intake/idempotency.ts'
import { tokenIdOf, tokenText, type TokenRecord } from './token-record.ts'
import { maxTokens, type TokenStore } from './token-store.ts'

export type NewToken = {
  request: TokenRequest
  projectId: string
  caller: Pick<Caller, 'projectId' | 'isOperator' | 'limits' | 'ownLimits'>
  asker: string
  idempotencyKey: string | undefined
}

export type CreateTokenDeps = { store: TokenStore; idempotency: IdempotencyStore }

/** Who manages the tokens of one project cannot use up those of the others. */
const maxOwnTokens = 250

const keptMs = 30 * 24 * 60 * 60 * 1000

/**
 * Under an idempotency key the same body gives the same token: its secret comes of the caller's token and a stored salt. INTAKE_008 for higher
 * limits than the caller's, INTAKE_005 for another body or a revoked token, INTAKE_003 above `maxTokens`, or `maxOwnTokens`.
 */
export async function createToken(
  wanted: NewToken,
  deps: CreateTokenDeps,
): Promise<{ text: string; record: TokenRecord }> {
  const { request, projectId } = wanted
  const now = Date.now()
  const limits = limitsOf(wanted)
  const text = tokenText(await secretOf(wanted, deps.idempotency))
  const hash = sha256(text)
  const { records: known } = await deps.store.readAll()
  const before = known.get(hash)
  if (before !== undefined) return { text, record: before }
  const stale = [...known].filter(([, { expiresAt }]) => expiresAt !== null && expiresAt + keptMs < now)
  await deps.store.remove(stale.map(([staleHash]) => staleHash))
  const count = [...known.values()].filter((token) => token.projectId === projectId).length
  if (!wanted.caller.isOperator && count >= maxOwnTokens) throw tooMany(`${maxOwnTokens} tokens of this project`)
  const { name, expires_in_s: expiresInS } = request
  const expiresAt = expiresInS === undefined ? null : now + expiresInS * 1000
  const scopes = [...new Set(request.scopes)]
  const record = { tokenId: tokenIdOf(text), projectId, name, scopes, createdAt: now, expiresAt, ...limits }
  const added = await deps.store.add(hash, record)
  switch (added) {
    case 'kept':
      return { text, record }
    case 'removed before':
      throw new AppError('INTAKE_005', 'The token of this Idempotency-Key was revoked: use another key for a new one.')
    case 'no room':
      throw tooMany(`${maxTokens} tokens`)
    default:
      return unreachable(added)
  }
}

const noLimits: TokenLimits = { requestsPerMinute: null, runs: null }

/** A token takes from the settings what its creator takes from them. */
function limitsOf({ request, caller: { limits: most = noLimits, ownLimits: own = noLimits } }: NewToken) {
  const { requests_per_minute: requestsPerMinute = own.requestsPerMinute, runs = own.runs } = request
  const faults = [
    ...overOwn('requests_per_minute', requestsPerMinute, most.requestsPerMinute),
    ...overOwn('runs', runs, most.runs),
  ]
  if (faults.length > 0) throw new AppError('INTAKE_008', faults.join('; '))
  return { requestsPerMinute: requestsPerMinute ?? undefined, runs: runs ?? undefined }
}

function overOwn(field: string, wanted: number | null, most: number | null): string[] {
  if (most === null || wanted === null || wanted <= most) return []
  return [`${field}: at most ${most}, as of the token that asks`]
}

function tooMany(which: string): AppError {
  return new AppError('INTAKE_003', `There are ${which}: revoke some that are not used any more.`)
}

async function secretOf(
  { request, caller, asker, idempotencyKey: key }: NewToken,
  idempotency: IdempotencyStore,
): Promise<Uint8Array> {
  if (key === undefined) return randomBytes(32)
  const own = {
    bodyHash: sha256(`token\0${JSON.stringify(request)}`),
    tokenSalt: randomBytes(32).toString('base64url'),
  }
  const holder = await idempotency.claim(caller.projectId, key, own)
  if (!('tokenSalt' in holder) || holder.bodyHash !== own.bodyHash) {
    throw new AppError('INTAKE_005', 'This Idempotency-Key was used before with another request.')
  }
  return createHmac('sha256', asker).update(holder.tokenSalt).digest()
}
