import { afterEach, describe, expect, it } from 'vitest'
import { repeatEvery } from '#platform/clock.ts'
import { readFleet } from '#store/ledger/fleet.ts'
import { openModelPool } from '#models/model-pool.ts'
import { modelRequest, startModelServer } from '#models/pool/model-server.fixture.ts'
import { silentLog } from '#platform/log.ts'
import { openSmallRedis } from '#testing/redis.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { keepPresent, openModelsInUse } from './worker-presence.ts'

const server = useOpened(openSmallRedis)
const has = {
  everyMs: 1_000, // in place of 5 s
  store: { look: async () => ({ state: 'ok' as const, message: 'it answers' }) },
  programs: async () => ({ names: ['python3', 'node'] }),
}
const opened: (() => Promise<void>)[] = []
afterEach(async () => void (await Promise.all(opened.splice(0).map((close) => close()))))

/** A worker over servers that each have one model; `default` is `own`. `asks` is what an operation does. */
async function workerWith(id: string, ...names: readonly string[]) {
  const servers = await Promise.all(names.map(() => startModelServer('good')))
  const endpoints = servers.map(({ url }, at) => ({ url, models: [names[at] ?? ''] }))
  const pool = openModelPool({ endpoints, requestTimeoutMs: 1000, retryBudgetMs: 0, maxInFlight: 64 })
  const models = openModelsInUse(pool, 'own', { freshMs: 500 })
  let most = 256
  const take = (now: number) => void (most = now)
  const leave = await keepPresent({
    redis: server.redis,
    id,
    operations: 256,
    models,
    ...has,
    take,
    log: silentLog,
  })
  opened.push(async () => {
    await leave()
    await pool.close()
    for (const one of servers) one.close()
  })
  return {
    takes: () => most > 0,
    most: () => most,
    async asks(model: string) {
      models.uses(model)
      return pool.complete(modelRequest(model), new AbortController().signal).catch(() => undefined)
    },
    breaks: (model: string) => servers[names.indexOf(model)]?.plays('reset'),
    mends: (model: string) => servers[names.indexOf(model)]?.plays('good'),
  }
}

const fleet = () => readFleet(server.redis)
const isServed = (model: string) => until(fleet, { holds: ({ served }) => served.has(model) })
const isAway = (model: string) => until(fleet, { holds: ({ away }) => away.some((one) => one.model === model) })

describe('a worker whose own model is away', () => {
  it('takes no operations while others have what works here, and takes them when nobody else has an adapter', async () => {
    const [good, poor] = [await workerWith('good', 'own'), await workerWith('poor', 'lora')]
    await until(() => !poor.takes())
    await good.asks('lora')
    await until(() => poor.takes())
    await isServed('lora')
    expect(await fleet()).toMatchObject({ away: [], served: new Set(['default', 'lora']) })
    const another = await workerWith('another', 'own', 'lora')
    await another.asks('lora')
    await until(() => !poor.takes())
    expect((await fleet()).served).toContain('lora')
  }, 60_000)

  it('takes only what the dispatcher hands out without a model while no worker’s model works', async () => {
    const [good, poor] = [await workerWith('good', 'own'), await workerWith('poor', 'own')]
    poor.breaks('own')
    await poor.asks('own')
    await until(() => poor.most(), { holds: (count) => count === 0 })
    good.breaks('own')
    await good.asks('own')
    await until(() => [poor.most(), good.most()], { holds: (shares) => shares.every((share) => share === 8) })
    good.mends('own')
    await until(() => good.most(), { holds: (count) => count === 256 })
    await until(() => !poor.takes())
    expect((await fleet()).served).toContain('default')
  }, 60_000)

  it('does not keep an adapter working that it has not used since it broke', async () => {
    const good = await workerWith('good', 'own', 'lora')
    const poor = await workerWith('poor', 'lora')
    await Promise.all([good.asks('lora'), poor.asks('lora')])
    await until(() => !poor.takes())
    poor.breaks('lora')
    good.breaks('lora')
    await good.asks('lora')
    await isAway('lora')
    expect(poor.takes()).toBe(false)
  }, 60_000)
})

it('a model that one worker finds away is judged by all, so that what needs it is held', async () => {
  const [one, other] = [await workerWith('one', 'own'), await workerWith('other', 'own')]
  await one.asks('lora')
  await isAway('lora')
  expect([one.takes(), other.takes()]).toEqual([true, true])
}, 60_000)

it('says how many requests wait for a slot, also while its model is away, and what each server said', async () => {
  const modelServer = await startModelServer('hang', { models: ['m'] })
  const limits = { requestTimeoutMs: 60_000, retryBudgetMs: 60_000, maxInFlight: 1 }
  const pool = openModelPool({ endpoints: [{ url: modelServer.url }], ...limits })
  const never = new AbortController().signal
  const endings = Promise.allSettled([1, 2, 3].map(() => pool.complete(modelRequest('m'), never)))
  await until(() => ({ ...pool.status(), ...modelServer.seen }), {
    holds: ({ waiting, completions }) => waiting === 2 && completions === 1,
  })
  modelServer.plays(401) // answers the probes, and leaves the first request hanging
  const models = openModelsInUse(pool, 'm')
  const found = await until(() => models.check(), { holds: (part) => part.state === 'away' })
  expect(found.message).toMatch(/^the model server does not work since \S+Z; 2 requests wait for a slot: http:/)
  expect(found.message).toContain(`: ${modelServer.url}: refuses the key (set REMORA_MODEL_API_KEY): answered 401`)
  await pool.close()
  for (const ended of await endings) expect(ended).toMatchObject({ reason: { code: 'AGENT_002' } })
  modelServer.close()
})

it('is not ready when its servers stop while nothing asks for them', async () => {
  const modelServer = await startModelServer('good', { models: ['m'] })
  const limits = { requestTimeoutMs: 1000, retryBudgetMs: 0, maxInFlight: 1 }
  const pool = openModelPool({ endpoints: [{ url: modelServer.url }], ...limits })
  const models = openModelsInUse(pool, 'm', { idleMs: 100 })
  await until(() => models.reports(), { holds: (reports) => reports.some(({ isWorking }) => isWorking === true) })
  modelServer.plays('reset')
  const stopAttending = repeatEvery(50, async () => models.attend([]))
  await until(() => models.check(), { holds: ({ state }) => state !== 'ok' })
  expect(await models.check()).toMatchObject({ state: 'away' })
  await stopAttending()
  await pool.close()
  modelServer.close()
})
