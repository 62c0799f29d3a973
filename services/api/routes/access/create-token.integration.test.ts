import { expect, it } from 'vitest'
import { TokenCreated } from '#schemas/token-schema.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'
import type { TokenRecord } from './token-record.ts'
import { testSigner } from '#testing/test-signer.ts'

const api = useTestApi()

const create = (headers: Record<string, string> = {}) =>
  api.ask('/v1/tokens', {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json', ...headers },
  })

/** Adds this many tokens to the existing ones. */
async function fill(count: number, change: Partial<TokenRecord> = {}): Promise<void> {
  const base = { projectId: api.project, name: '', scopes: ['runs:read'], createdAt: 1, expiresAt: null, ...change }
  const entries = Array.from({ length: count }, (_, index) => {
    const id = index.toString(16).padStart(16, '0')
    const hash = `${change.name ?? 'old'}-${id}`
    const json = JSON.stringify({ ...base, tokenId: `t${id}` })
    return [hash, `${testSigner.sign('token', hash, json)} ${json}`] as const
  })
  await api.redis.hset(`${api.namespace}:{tokens}:records`, Object.fromEntries(entries))
}

it('makes no more than 1,000 tokens, also when many are asked for at once, and says what to do', async () => {
  const key = { 'idempotency-key': 'the-first-of-all' }
  const first = TokenCreated.parse(await (await create(key)).json())
  await fill(996)
  const answers = await Promise.all(Array.from({ length: 20 }, () => create()))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
  const refused = await create()
  expect(await refused.json()).toMatchObject({
    status: 413,
    error_code: 'INTAKE_003',
    detail: expect.stringContaining('revoke'),
  })
  expect(TokenCreated.parse(await (await create(key)).json()), 'made before').toEqual(first)

  expect((await api.ask(`/v1/tokens/${first.token_id}`, { method: 'DELETE' })).status).toBe(204)
  expect((await create()).status).toBe(201)
})

it('takes away what expired long ago when there is no room', async () => {
  await api.redis.del(`${api.namespace}:{tokens}:records`)
  await fill(1_000, { name: 'expired', expiresAt: 2 })
  expect((await create()).status).toBe(201)
})
