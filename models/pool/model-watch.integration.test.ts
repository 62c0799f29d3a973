import { afterAll, describe, expect, it } from 'vitest'
import { ModelUnavailable } from '#domain/error.ts'
import { quickClock } from '#testing/quick-clock.ts'
import { until } from '#testing/until.ts'
import { openModelPool } from '../model-pool.ts'
import { modelRequest, startModelServer, type Played } from './model-server.fixture.ts'

/** The pauses between probes are a tenth as long. */
const clock = quickClock(10)
const closing: (() => Promise<unknown> | void)[] = []
const never = new AbortController().signal

afterAll(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function playedPool(...plays: readonly Played[]) {
  const servers = await Promise.all(plays.map((what) => startModelServer(what)))
  let changes = 0
  const endpoints = servers.map(({ url }) => ({ url }))
  const limits = { requestTimeoutMs: 300, retryBudgetMs: 200, maxInFlight: 64 }
  const pool = openModelPool({ endpoints, ...limits, clock })
  pool.health.listen(() => void (changes += 1))
  closing.push(...servers.map(({ close }) => close), pool.close)
  const fail = () => pool.complete(modelRequest('m'), never).then(String, (error: unknown) => error)
  return { pool, servers, fail, changes: () => changes }
}

describe('a request that alone is refused', () => {
  const filtered = { ...modelRequest('m'), messages: [{ role: 'user' as const, content: 'what nobody may ask' }] }

  it.concurrent.each([401, 403, 404])('with %i is itself at fault: all others are answered', async (status) => {
    const filter = { text: 'what nobody may ask', status }
    const servers = await Promise.all([startModelServer('good', { filter }), startModelServer('good', { filter })])
    const pool = openModelPool({ endpoints: servers, requestTimeoutMs: 5000, retryBudgetMs: 200, maxInFlight: 64 })
    closing.push(...servers.map(({ close }) => close), pool.close)
    for (let again = 0; again < 3; again++) {
      const refusal = pool.complete(filtered, never).then(String, (error: unknown) => error)
      const others = Array.from({ length: 8 }, () => pool.complete(modelRequest('m'), never))
      for (const { content } of await Promise.all(others)) expect(content).toBe('hi')
      expect(await refusal).toMatchObject({ code: 'AGENT_002', isAway: false, mayBeTheRequest: true })
      expect(await refusal).toMatchObject({
        message: expect.stringMatching(`said ${status}.*; other requests are answered`),
      })
      expect(await pool.complete(modelRequest('m'), never)).toMatchObject({ content: 'hi' })
    }
    expect(pool.health.report('m')).toMatchObject({ isWorking: true, awaySince: null })
    for (const server of servers) server.plays(status)
    await expect(pool.complete(modelRequest('m'), never)).rejects.toMatchObject({ code: 'AGENT_002', isAway: true })
  })
})

describe('a model', () => {
  it.concurrent.each<Played>([503, 401, 402, 403, 404, 429, 'reset', 'hang'])(
    'is away when its server plays %s, refuses requests at once, and works again after the first good probe',
    async (what) => {
      const { pool, servers, fail, changes } = await playedPool(what)
      expect(await fail()).toBeInstanceOf(ModelUnavailable)
      const { awaySince, isWorking, servers: seen } = pool.health.report('m')
      expect([awaySince, isWorking]).toEqual([expect.any(Number), false])
      expect(seen).toMatchObject([{ url: servers[0]?.url, isWorking: false, lastError: expect.any(String) }])
      expect(seen[0]?.nextProbeAt).toBeGreaterThan(Date.now() - 1000)
      const asked = servers[0]?.seen.completions
      expect(await fail()).toMatchObject({ code: 'AGENT_002', isAway: true })
      expect(servers[0]?.seen.completions).toBe(asked)
      servers[0]?.plays('good')
      await until(() => pool.health.report('m'), { holds: (report) => report.isWorking === true, withinMs: 20_000 })
      expect(changes()).toBe(2)
      expect(await pool.complete(modelRequest('m'), never)).toMatchObject({ content: 'hi' })
    },
    30_000,
  )

  it('works while one of its servers does, and the others are named', async () => {
    const { pool, servers } = await playedPool('reset', 'good')
    pool.health.watch('m')
    await until(() => pool.health.report('m'), {
      holds: (report) => report.servers.every(({ isWorking }) => isWorking !== null),
    })
    expect(pool.health.report('m')).toMatchObject({ isWorking: true, awaySince: null })
    const bad = pool.health.report('m').servers.find(({ url }) => url === servers[0]?.url)
    expect(bad).toMatchObject({ isWorking: false, hasAnswered: false })
  })

  it('is not away because of a request that its servers refuse', async () => {
    const { pool, fail } = await playedPool(400)
    expect(await fail()).not.toBeInstanceOf(ModelUnavailable)
    expect(pool.health.report('m')).toMatchObject({ isWorking: true, awaySince: null })
  })
})

it('the first model is away by its name once the server offers another one, which works', async () => {
  const models = ['m']
  const server = await startModelServer('good', { models })
  const pool = openModelPool({ endpoints: [server], requestTimeoutMs: 300, retryBudgetMs: 200, maxInFlight: 64 })
  closing.push(server.close, pool.close)
  await pool.health.works(undefined)
  expect(pool.health.report('m').isWorking).toBe(true)
  models[0] = 'other'
  expect(await pool.health.works(undefined)).toBe(true)
  expect(pool.health.report('other').isWorking).toBe(true)
  expect(await pool.health.works('m')).toBe(false)
  await expect(pool.complete(modelRequest('m'), never)).rejects.toMatchObject({ code: 'AGENT_002', isAway: true })
  expect(pool.health.report(undefined).isWorking).toBe(true)
})
