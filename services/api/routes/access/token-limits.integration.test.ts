import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { TokenCreated } from '#schemas/token-schema.ts'
import { openTestApi, runForm, tarOf, type TestApi } from '../../app.fixture.ts'
import { playRun } from '../../played-run.fixture.ts'

/** Two processes of the API over the same stores. */
let api: TestApi
let other: TestApi
beforeAll(async () => {
  const [server, store] = [await testRedis(), await testObjects()]
  api = await openTestApi(server, store)
  const close = async () => {}
  const tokenLimits = { requestsPerMinute: 7, runs: null }
  other = await openTestApi({ ...server, close }, { ...store, close }, { tokenLimits })
})
afterAll(async () => {
  await other.close()
  await api.close()
})

const json = (body: object) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

async function create(body: object) {
  return TokenCreated.parse(await (await api.ask('/v1/tokens', json(body))).json())
}

type Asked = { token: string; from?: TestApi; path?: string; init?: RequestInit }

async function ask({ token, from = api, path = '/v1/runs', init = {} }: Asked): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${token}`)
  return from.app.request(path, { ...init, headers })
}

const statusesOf = (answers: readonly Response[]) =>
  answers.map(({ status }) => status).toSorted((first, second) => first - second)

const Accepted = z.object({ run_id: z.string() })

async function submit(token: string, { from = api, key }: { from?: TestApi; key?: string } = {}) {
  const init = {
    method: 'POST',
    body: runForm(await tarOf({ 'a.py': 'x = 1\n' })),
    headers: key === undefined ? {} : { 'idempotency-key': key },
  }
  return ask({ token, from, path: '/v1/runs', init })
}

describe('a token that may send so many requests a minute', () => {
  it('is refused the next one by every process, and told when to come again; others are not affected', async () => {
    const { token, requests_per_minute: most } = await create({ requests_per_minute: 5 })
    expect(most).toBe(5)
    const answers = await Promise.all([api, other, api, other, api, other].map((from) => ask({ token, from })))
    expect(statusesOf(answers)).toEqual([200, 200, 200, 200, 200, 429])
    const refused = answers.find(({ status }) => status === 429)
    const waitS = Number(refused?.headers.get('retry-after'))
    expect(waitS).toBeGreaterThan(0)
    expect(waitS).toBeLessThanOrEqual(12)
    expect(await refused?.json()).toMatchObject({
      error_code: 'LIMIT_001',
      detail: expect.stringContaining('5 requests'),
    })
    expect((await ask({ token: (await create({ requests_per_minute: 5 })).token })).status).toBe(200)
    expect((await api.ask('/v1/runs')).status).toBe(200)
    expect((await ask({ token, path: '/readyz' })).status).toBe(200)
  })

  it('has the limit of the settings when it has none of its own, which the operator has not', async () => {
    const { token } = await create({})
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask({ token, from: other })))
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1)
    const ofOperator = await Promise.all(Array.from({ length: 20 }, () => other.ask('/v1/runs')))
    expect(ofOperator.every(({ status }) => status === 200)).toBe(true)
  })
})

describe('a token that may have so many runs', () => {
  it('is refused another one, in whatever process, until one ends', async () => {
    const { token } = await create({ runs: 2 })
    const answers = await Promise.all(
      [api, other, api, other].map((from) => submit(token, { from, key: crypto.randomUUID() })),
    )
    expect(statusesOf(answers)).toEqual([202, 202, 429, 429])
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.headers.get('retry-after')).toBe(null)
    expect(await refused?.json()).toMatchObject({
      error_code: 'LIMIT_003',
      detail: 'This token has 2 runs that have not ended, and may have 2: wait until one ends, or cancel one.',
    })
    const accepted = answers.find(({ status }) => status === 202)
    const { run_id: runId } = Accepted.parse(await accepted?.json())
    await api.ledger.move(runId, { from: [{ status: 'queued' }], to: { status: 'failed' }, command: 'end', events: [] })
    expect((await submit(token)).status).toBe(202)
    expect((await submit(token)).status).toBe(429)
    expect((await submit((await create({ runs: 2 })).token)).status).toBe(202)
  })

  it('gets the same run again for the same key, also when it has as many as it may have', async () => {
    const { token } = await create({ runs: 1 })
    const answers = [await submit(token, { key: 'same' }), await submit(token, { key: 'same', from: other })]
    const ids = await Promise.all(answers.map(async (answer) => Accepted.parse(await answer.json()).run_id))
    expect(new Set(ids).size).toBe(1)
  })

  it('is refused a retry as well', async () => {
    const { token } = await create({ runs: 1 })
    const retried = async () => {
      const run = await playRun(api, [{ name: 'one', fails: { code: 'AGENT_004', reason: 'turns' } }])
      const end = { from: [{ status: 'running' }], to: { status: 'failed' }, command: 'end', events: [] } as const
      await api.ledger.move(run, end)
      return (await ask({ token, path: `/v1/runs/${run}/retry`, init: { method: 'POST' } })).status
    }
    const statuses = [await retried(), await retried()]
    expect(statuses).toEqual([202, 429])
  })
})

describe('a token that makes tokens', () => {
  it('gives no more than it has, and what it has without being asked', async () => {
    const { token } = await create({ scopes: ['tokens:admin'], requests_per_minute: 100, runs: 3 })
    const make = async (body: object) => (await ask({ token, path: '/v1/tokens', init: json(body) })).json()
    expect(await make({})).toMatchObject({ requests_per_minute: 100, runs: 3 })
    expect(await make({ requests_per_minute: 10, runs: 1 })).toMatchObject({ requests_per_minute: 10, runs: 1 })
    expect(await make({ requests_per_minute: 101, runs: 4 })).toMatchObject({
      error_code: 'INTAKE_008',
      detail: 'requests_per_minute: at most 100, as of the token that asks; runs: at most 3, as of the token that asks',
    })
  })

  it('gives no more than the settings let it, and leaves to them what they say of both', async () => {
    const { token, token_id: id } = await create({ scopes: ['tokens:admin'] })
    const make = async (body: object) => {
      const answer = await ask({ token, from: other, path: '/v1/tokens', init: json(body) })
      return z.looseObject({ token: z.string().default('') }).parse(await answer.json())
    }
    const made = await make({ scopes: ['tokens:admin'] })
    expect(made).toMatchObject({ requests_per_minute: null, runs: null })
    const listed = await api.ask('/v1/tokens')
    const { tokens } = z.object({ tokens: z.array(z.looseObject({ token_id: z.string() })) }).parse(await listed.json())
    for (const one of [id, made['token_id']])
      expect(tokens.find((shown) => shown.token_id === one)).toMatchObject({ requests_per_minute: null, runs: null })
    expect(await make({ requests_per_minute: 7, runs: 1 })).toMatchObject({ requests_per_minute: 7, runs: 1 })
    expect(await make({ requests_per_minute: 8 })).toMatchObject({
      error_code: 'INTAKE_008',
      detail: 'requests_per_minute: at most 7, as of the token that asks',
    })
    const asOther = { from: other, path: '/v1/tokens' }
    const statuses = await Promise.all(Array.from({ length: 8 }, () => ask({ ...asOther, token: made.token })))
    expect(statuses.filter(({ status }) => status === 429)).toHaveLength(1)
    expect((await ask({ ...asOther, from: api, token: made.token })).status).toBe(200)
  })
})
