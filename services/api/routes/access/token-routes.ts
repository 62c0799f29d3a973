import { OpenAPIHono, z } from '@hono/zod-openapi'
import { AppError, unreachable } from '#domain/error.ts'
import { TokenCreated, TokenPage, TokenRequest, TokenView } from '#schemas/token-schema.ts'
import type { ApiEnv, Caller, TokenLimits } from '../../http/api-env.ts'
import { bearerToken } from '../../http/auth.ts'
import { endpoint, jsonAnswer, jsonBody, requireOperator } from '../../http/endpoint.ts'
import { findProject, type ProjectRouteDeps } from './project-routes.ts'
import type { TokenTable } from './token-table.ts'
import { isoTime, viewOf } from '../../http/schema-parts.ts'
import { type TokenRecord, tokenIdOf, tokenText } from './token-record.ts'
import { TokenId } from '#domain/id-schemas.ts'
import { ProjectId, sha256 } from '#domain/ids.ts'
import { IdempotencyHeader, type IdempotencyStore } from '#stages/intake/idempotency.ts'
import { createHmac, randomBytes } from 'node:crypto'
import { maxTokens, type TokenStore } from './token-store.ts'

const TokenParams = z.object({ token_id: TokenId })

const createProse = `
The text of the token is in this answer only: Remora stores its SHA-256. Scopes: \`runs:read\` (read runs and patches),
\`runs:write\` (submit, cancel, retry, delete), \`tokens:admin\` (create, list and revoke tokens; it can give any scope, so it
amounts to all in its project). No scope implies another. Without \`scopes\` the token gets \`runs:read\` and \`runs:write\`.
At most 1,000 tokens, of which the owners of \`tokens:admin\` make up to 250 in their project; INTAKE_003 above that. An \`Idempotency-Key\` whose token was revoked is INTAKE_005.
A token has limits of its own, or those of the settings. What a token makes has no higher ones
than it has itself (INTAKE_008), and without any named has its own; the operator may give any.`

export const tokenEndpoints = {
  create: endpoint('tokens:admin', ['INTAKE_005', 'PROJECT_001'], {
    method: 'post',
    path: '/v1/tokens',
    operationId: 'createToken',
    summary: 'Make a token',
    description: createProse.trim(),
    request: {
      headers: IdempotencyHeader,
      body: jsonBody(TokenRequest),
    },
    responses: { 201: jsonAnswer('the token', TokenCreated) },
  }),
  list: endpoint('tokens:admin', [], {
    method: 'get',
    path: '/v1/tokens',
    operationId: 'listTokens',
    summary: 'The tokens of the project, newest first',
    description:
      'Expired ones are listed for 30 days. `REMORA_TOKEN` of the environment is not in the list. One whose record cannot be read is under `unreadable`; one whose project cannot be read either is shown to the operator alone.',
    request: {
      query: z.strictObject({
        project_id: ProjectId.optional().openapi({ description: 'absent: yours; only the operator may name another' }),
      }),
    },
    responses: { 200: jsonAnswer('all of them', TokenPage) },
  }),
  revoke: endpoint('tokens:admin', ['AUTH_003'], {
    method: 'delete',
    path: '/v1/tokens/{token_id}',
    operationId: 'revokeToken',
    summary: 'Revoke a token',
    description:
      'The operator may revoke those of every project. It stops working at once in the process that answers, within 2 s in every other; its open streams of events end within 6 s.',
    request: { params: TokenParams },
    responses: { 204: { description: 'revoked' } },
  }),
} as const

export type TokenRouteDeps = CreateTokenDeps & ProjectRouteDeps & { table: Pick<TokenTable, 'forget'> }

export function tokenRoutes(deps: TokenRouteDeps): OpenAPIHono<ApiEnv> {
  const { store, table } = deps
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(tokenEndpoints.create, async (c) => {
    const request = c.req.valid('json')
    const idempotencyKey = c.req.valid('header')['idempotency-key']
    const asker = bearerToken(c.req.header('authorization')) ?? ''
    const caller = c.get('caller')
    const projectId = projectOf(request.project_id, caller)
    if (projectId !== caller.projectId) await findProject(projectId, deps.projects)
    const { text, record } = await createToken({ request, projectId, caller, asker, idempotencyKey }, deps)
    table.forget()
    return c.json({ ...tokenView(record, { lastUsedAt: null, now: Date.now() }), token: text }, 201)
  })
  routes.openapi(tokenEndpoints.list, async (c) => {
    const [{ records, unreadable }, uses] = await Promise.all([store.readAll(), store.lastUses()])
    const caller = c.get('caller')
    const projectId = projectOf(c.req.valid('query').project_id, caller)
    const isNobodys = (token: OwnedToken) => caller.isOperator && token.projectId === undefined
    const isOwn = (token: OwnedToken) => token.projectId === projectId || isNobodys(token)
    const own = [...records.values()].filter(isOwn)
    const newest = own.toSorted((a, b) => b.createdAt - a.createdAt || (a.tokenId < b.tokenId ? -1 : 1))
    const now = Date.now()
    const views = newest.map((record) => tokenView(record, { lastUsedAt: uses.get(record.tokenId) ?? null, now }))
    const damaged = [...unreadable.values()].filter(isOwn).map(({ tokenId }) => ({ token_id: tokenId }))
    return c.json({ tokens: views, unreadable: damaged }, 200)
  })
  routes.openapi(tokenEndpoints.revoke, async (c) => {
    const { token_id: tokenId } = c.req.valid('param')
    const { isOperator, projectId } = c.get('caller')
    const isOwn = (token: OwnedToken) => isOperator || token.projectId === projectId
    const { records, unreadable } = await store.readAll()
    const tokens = [...records, ...unreadable].filter(([, token]) => token.tokenId === tokenId && isOwn(token))
    if (tokens.length === 0) throw new AppError('AUTH_003', `There is no token "${tokenId}".`)
    await store.remove(tokens.map(([hash]) => hash))
    table.forget()
    return c.body(null, 204)
  })
  return routes
}

/** The operator may name any project; AUTH_002 for others. */
function projectOf(wanted: string | undefined, caller: Caller): string {
  if (wanted !== undefined && wanted !== caller.projectId) requireOperator(caller)
  return wanted ?? caller.projectId
}

type OwnedToken = { projectId: string | undefined }

/** Times are milliseconds since the epoch. */
function tokenView(record: TokenRecord, { lastUsedAt, now }: { lastUsedAt: number | null; now: number }): TokenView {
  const { createdAt, expiresAt } = record
  return viewOf(TokenView, record, {
    created_at: isoTime(createdAt),
    expires_at: isoTime(expiresAt),
    expired: expiresAt !== null && expiresAt <= now,
    last_used_at: isoTime(lastUsedAt),
    requests_per_minute: record.requestsPerMinute ?? null,
    runs: record.runs ?? null,
  })
}

type NewToken = {
  request: TokenRequest
  projectId: string
  caller: Pick<Caller, 'projectId' | 'isOperator' | 'limits' | 'ownLimits'>
  asker: string
  idempotencyKey: string | undefined
}

type CreateTokenDeps = { store: TokenStore; idempotency: IdempotencyStore }

/** Who manages the tokens of one project cannot use up those of the others. */
const maxOwnTokens = 250

const keptMs = 30 * 24 * 60 * 60 * 1000

/**
 * Under an idempotency key the same body gives the same token: its secret comes of the caller's token and a stored salt. INTAKE_008 for higher
 * limits than the caller's, INTAKE_005 for another body or a revoked token, INTAKE_003 above `maxTokens`, or `maxOwnTokens`.
 */
async function createToken(wanted: NewToken, deps: CreateTokenDeps): Promise<{ text: string; record: TokenRecord }> {
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
