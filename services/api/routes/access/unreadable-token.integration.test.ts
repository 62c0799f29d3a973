import { beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { TokenCreated, TokenPage } from '#schemas/token-schema.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'
import { tokenIdOf, tokenText } from './token-record.ts'

let records: string
const api = useTestApi()
beforeAll(() => {
  records = `${api.namespace}:{tokens}:records`
})

async function list(who: (path: string) => Promise<Response> = api.ask) {
  const answer = await who('/v1/tokens')
  expect(answer.status).toBe(200)
  return TokenPage.parse(await answer.json())
}
const revoke = (id: string) => api.ask(`/v1/tokens/${id}`, { method: 'DELETE' })
const bySeed = (seed: number) => tokenText(Buffer.alloc(32, seed))

describe('a token whose record cannot be read', () => {
  const good = { projectId: 'default', name: 'n', scopes: ['runs:read'], createdAt: 1, expiresAt: null }
  it.for<[number, string, object | string]>([
    [1, 'a time beyond all years', { ...good, createdAt: 1e20 }],
    [2, 'an end that is no time', { ...good, expiresAt: 'soon' }],
    [3, 'a field that is not there', {}],
    [4, 'no JSON', 'not JSON'],
    [5, 'JSON of another kind', '[1]'],
  ])('is listed as such, grants nothing, and can be revoked: %j %s', async ([seed, , damaged]) => {
    const text = bySeed(seed)
    const ownId = tokenIdOf(text)
    const written = typeof damaged === 'string' ? damaged : { tokenId: ownId, ...damaged, projectId: api.project }
    await api.redis.hset(records, sha256(text), typeof written === 'string' ? written : JSON.stringify(written))

    const [damagedOne, ...others] = (await list()).unreadable
    expect(others).toEqual([])
    const isId = typeof written === 'string' ? /^t[0-9a-f]{16}$/ : new RegExp(`^${ownId}$`)
    expect(damagedOne?.token_id).toMatch(isId)
    const refused = await api.app.request('/v1/runs', { headers: { authorization: `Bearer ${text}` } })
    expect(refused.status).toBe(401)

    expect((await revoke(damagedOne?.token_id ?? '')).status).toBe(204)
    expect(await list()).toEqual({ tokens: [], unreadable: [] })
    expect(await api.redis.hexists(records, sha256(text))).toBe(0)
  })

  it("is its own project's alone, as far as that can be read", async () => {
    await api.redis.hset(records, sha256('a'), JSON.stringify({ tokenId: 't0123456789abcdef', projectId: api.project }))
    const other = (path: string) => api.askAs('other', path)
    expect((await list(other)).unreadable).toEqual([])
    expect((await api.askAs('other', '/v1/tokens/t0123456789abcdef', { method: 'DELETE' })).status).toBe(404)
    expect((await revoke('t0123456789abcdef')).status).toBe(204)
  })
})

it.for(['abc', '1e20', ''])('a use that is no time hides that use alone: %j', async (use) => {
  const post = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }
  const { token_id: id } = TokenCreated.parse(await (await api.ask('/v1/tokens', post)).json())
  await api.redis.hset(`${api.namespace}:{tokens}:uses`, id, use)
  expect((await list()).tokens).toMatchObject([{ token_id: id, last_used_at: null }])
  expect((await revoke(id)).status).toBe(204)
})
