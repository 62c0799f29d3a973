import { afterAll, beforeAll, expect, it } from 'vitest'
import { readFleet } from '#ledger/fleet.ts'
import { openModelPool } from '#models/model-pool.ts'
import { modelRequest, startModelServer } from '#models/pool/model-server.fixture.ts'
import { silentLog } from '#platform/log.ts'
import { openSmallRedis, type SmallRedis } from '#testing/redis.ts'
import { until } from '#testing/until.ts'
import { keepPresent, openModelsInUse } from './worker-presence.ts'

let server: SmallRedis
beforeAll(async () => {
  server = await openSmallRedis()
})
afterAll(() => server.close())

/** A worker over the pool's own view of a server; `cut` is what an overload does to that. */
async function worker(id: string) {
  const pool = openModelPool({
    endpoints: [{ url: 'http://127.0.0.1:1/v1', maxInFlight: 16 }],
    requestTimeoutMs: 1000,
    retryBudgetMs: 0,
    maxInFlight: 64,
  })
  let left = 16
  const takes: number[] = []
  const status = () => {
    const { waiting, endpoints } = pool.status()
    return { waiting, endpoints: endpoints.map((endpoint) => ({ ...endpoint, limit: left })) }
  }
  const health = { ...pool.health, watch: () => {} }
  const models = openModelsInUse({ health, status }, 'm')
  const take = (most: number) => void takes.push(most)
  const leave = await keepPresent({ redis: server.redis, id, slots: 256, models, take, log: silentLog })
  return {
    takes,
    cut: (limit: number) => void (left = limit),
    async close() {
      await leave()
      await pool.close()
    },
  }
}

it('a worker whose server takes less of its requests than another’s takes fewer operations', async () => {
  const [one, other] = [await worker('one'), await worker('other')]
  expect(await readFleet(server.redis)).toMatchObject({ slots: 512, capacity: 16 })
  one.cut(2)
  await until(() => one.takes.includes(32))
  await until(async () => (await readFleet(server.redis)).slots === 288)
  // When all are cut alike, none takes less: the dispatcher hands out less.
  other.cut(2)
  await until(async () => (await readFleet(server.redis)).slots === 512)
  expect(await readFleet(server.redis)).toMatchObject({ capacity: 4 })
  expect(one.takes.at(-1)).toBe(256)
  await one.close()
  await other.close()
})

it('says how many requests wait for a slot, also while its model is away', async () => {
  const modelServer = await startModelServer('hang', { models: ['m'] })
  const limits = { requestTimeoutMs: 60_000, retryBudgetMs: 0, maxInFlight: 1 }
  const pool = openModelPool({ endpoints: [{ url: modelServer.url }], ...limits })
  const never = new AbortController().signal
  const endings = Promise.allSettled([1, 2, 3].map(() => pool.complete(modelRequest('m'), never)))
  await until(() => pool.status().waiting === 2 && modelServer.seen.completions === 1)
  modelServer.plays(401) // answers the probes, and leaves the first request hanging
  const models = openModelsInUse(pool, 'm')
  const found = await until(async () => {
    const part = await models.check()
    return part.state === 'away' && part
  })
  expect(found.message).toMatch(/^the model server does not work since \S+Z; 2 requests wait for a slot$/)
  await pool.close()
  for (const ended of await endings) expect(ended).toMatchObject({ reason: { code: 'AGENT_002' } })
  modelServer.close()
})
