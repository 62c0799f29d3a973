import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { sha256 } from '#domain/ids.ts'
import { until } from '#testing/until.ts'
import { TokenCreated, TokenPage } from '#schemas/token-schema.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'
import { submitRun } from '../../played-run.fixture.ts'
import { tokenText } from './token-record.ts'

const lines: string[] = []
const api = useTestApi({ writeLog: (line) => void lines.push(line) })

const post = (body: object, headers: Record<string, string> = {}) =>
  api.ask('/v1/tokens', {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })
async function create(body: object = {}, headers: Record<string, string> = {}) {
  const answer = await post(body, headers)
  expect(answer.status).toBe(201)
  return TokenCreated.parse(await answer.json())
}
const list = async () => TokenPage.parse(await (await api.ask('/v1/tokens')).json()).tokens
const askWith = (token: string, path = '/v1/runs') =>
  api.app.request(path, { headers: { authorization: `Bearer ${token}` } })

describe('a token', () => {
  it('is kept in Redis as a hash alone, in one slot of a cluster', async () => {
    const { token } = await create({ name: 'kept' })
    expect((await askWith(token)).status).toBe(200)
    const keys = (await api.redis.keys(`${api.namespace}:*`)).filter((key) => key.includes('tokens'))
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys) {
      expect(key).toContain('{tokens}')
      expect(await api.redis.dump(key)).not.toContain(token.slice(4))
    }
    expect(await api.redis.hexists(`${api.namespace}:{tokens}:records`, sha256(token))).toBe(1)
  })

  it('is worthless when it is revoked', async () => {
    const { token, token_id: id } = await create()
    expect((await askWith(token)).status).toBe(200)
    expect((await api.ask(`/v1/tokens/${id}`, { method: 'DELETE' })).status).toBe(204)
    expect(await (await askWith(token)).json()).toMatchObject({ status: 401, error_code: 'AUTH_001' })
    expect((await api.ask(`/v1/tokens/${id}`, { method: 'DELETE' })).status).toBe(404)
    expect((await list()).map((one) => one.token_id)).not.toContain(id)
  })

  it.concurrent('is worthless when another process has revoked it', async () => {
    const { token, token_id: id } = await create()
    expect((await askWith(token)).status).toBe(200)
    const [hash = ''] = [...(await api.tokenStore.readAll()).records].flatMap(([key, one]) =>
      one.tokenId === id ? [key] : [],
    )
    await api.tokenStore.remove([hash])
    await until(() => askWith(token), { holds: ({ status }) => status === 401 })
  })

  it.concurrent('is worthless when its time has passed, and is still listed', async () => {
    const { token, token_id: id } = await create({ expires_in_s: 60 })
    expect((await askWith(token)).status).toBe(200)
    const hash = sha256(token)
    const record = (await api.tokenStore.readAll()).records.get(hash)
    if (record === undefined) throw new Error('it was not kept')
    await api.tokenStore.add(hash, { ...record, expiresAt: Date.now() - 1 })
    await until(() => askWith(token), { holds: ({ status }) => status === 401 })
    expect((await list()).find((one) => one.token_id === id)).toMatchObject({ expired: true })
  })

  it('that somebody else has written into Redis, or the record of another one, grants nothing', async () => {
    const { token } = await create({ scopes: ['runs:read'] })
    const records = `${api.namespace}:{tokens}:records`
    const kept = (await api.redis.hget(records, sha256(token))) ?? ''
    const own = tokenText(Buffer.alloc(32, 7))
    for (const record of [kept, kept.slice(kept.indexOf(' ') + 1), kept.replace('runs:read', 'runs:write')]) {
      await api.redis.hset(records, sha256(own), record)
      expect((await askWith(own)).status).toBe(401)
    }
    await api.redis.hdel(records, sha256(own))
  })

  it('shows when it was used, with one write for many uses', async () => {
    const { token, token_id: id } = await create()
    for (let use = 0; use < 20; use += 1) await askWith(token)
    const used = await until(async () => (await list()).find((one) => one.token_id === id)?.last_used_at ?? undefined)
    await askWith(token)
    expect((await list()).find((one) => one.token_id === id)?.last_used_at).toBe(used)
  })

  it('comes out the same for the same key and body, and is not made twice', async () => {
    const headers = { 'idempotency-key': 'token-4711' }
    const first = await create({ name: 'once' }, headers)
    expect(await create({ name: 'once' }, headers)).toEqual(first)
    expect((await list()).filter(({ name }) => name === 'once')).toHaveLength(1)
    expect(await (await post({ name: 'other' }, headers)).json()).toMatchObject({
      status: 422,
      error_code: 'INTAKE_005',
    })
    const stored = await Promise.all(
      (await api.redis.keys(`${api.namespace}:*`)).map(async (key) => api.redis.dump(key)),
    )
    expect(stored.join()).not.toContain(first.token.slice(4))
  })

  it('does not come back by its key when it was revoked', async () => {
    const headers = { 'idempotency-key': 'token-4712' }
    const { token, token_id: id } = await create({ name: 'leaked' }, headers)
    expect((await api.ask(`/v1/tokens/${id}`, { method: 'DELETE' })).status).toBe(204)
    const again = await (await post({ name: 'leaked' }, headers)).json()
    expect(again).toMatchObject({ status: 422, error_code: 'INTAKE_005', detail: expect.stringContaining('revoked') })
    expect((await askWith(token)).status).toBe(401)
    expect((await list()).map(({ name }) => name)).not.toContain('leaked')
    const [mark = ''] = await api.redis.keys(`*${sha256(token)}`)
    expect(await api.redis.ttl(mark)).toBeGreaterThan(23 * 60 * 60)
    expect((await create({ name: 'leaked' }, { 'idempotency-key': 'token-4713' })).token).not.toBe(token)
  })

  it.for([
    [{ scopes: ['runs:everything'] }],
    [{ scopes: [] }],
    [{ expires_in_s: 5 }],
    [{ name: 'two\nlines' }],
    [{ colour: 'red' }],
  ])('is not made of %j', async ([body = {}]) => {
    expect(await (await post(body)).json()).toMatchObject({ status: 422, error_code: 'INTAKE_008' })
  })

  it('is named by the log where it sets a budget, with what it was before', async () => {
    const runId = await submitRun(api)
    const { token, token_id: id } = await create({ name: 'ops', scopes: ['runs:write', 'tokens:admin'] })
    const set = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      expect((await api.app.request(path, { method: 'PUT', headers, body: JSON.stringify(body) })).status).toBe(200)
    }
    for (const tokens of [5, 5, null]) {
      await set(`/v1/runs/${runId}/budget`, { tokens })
      await set(`/v1/projects/${api.project}/budget`, { tokens_per_day: tokens })
    }
    const said = lines.map((line) => z.looseObject({ message: z.string() }).parse(JSON.parse(line)))
    const changes = [
      { tokens: 5, before: null },
      { tokens: null, before: 5 },
    ].map((change) => ({ ...change, token: id, token_name: 'ops', project_id: api.project }))
    expect(said.filter(({ message }) => message === 'budget of a run set')).toMatchObject(
      changes.map((change) => ({ ...change, run_id: runId })),
    )
    expect(said.filter(({ message }) => message === 'budget of a project set')).toMatchObject(
      changes.map((change) => ({ ...change, by: 'own' })),
    )
  })

  it('that cannot be one is not looked up', async () => {
    await askWith((await create()).token)
    const { reads } = api.tokenStore
    for (let one = 0; one < 50; one += 1) await askWith(`rmr_${one}`)
    expect(api.tokenStore.reads).toBe(reads)
  })
})
