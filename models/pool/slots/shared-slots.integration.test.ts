import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { after } from '#platform/clock.ts'
import { connectRedis } from '#platform/redis-client.ts'
import { boundPort } from '#platform/http-health.ts'
import { type RecordedLog, recordedLog } from '#testing/recorded-log.ts'
import { startTestRedis, testRedis, type TestRedis } from '#testing/redis.ts'
import { until } from '#testing/until.ts'
import { openModelPool, type ModelPool } from '../../model-pool.ts'
import { modelRequest } from '../model-server.fixture.ts'
import { openSharedSlots } from './shared-slots.ts'
import { type Log, silentLog } from '#platform/log.ts'

let redis: TestRedis
const closing: (() => Promise<unknown> | void)[] = []
beforeAll(async () => {
  redis = await testRedis()
})
afterAll(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  await redis.close()
})

const never = new AbortController().signal
const body = JSON.stringify({ choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }] })

async function serverOf(answer: (response: ServerResponse) => void): Promise<string> {
  const server: Server = createServer((incoming, response) => {
    if (incoming.method === 'GET') return void response.writeHead(404).end() // its models
    incoming.resume()
    answer(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${boundPort(server)}/v1`
}

/** A server that takes `ms` for each answer, and counts how many it is working on. */
async function countingServer(ms: number) {
  const seen = { now: 0, most: 0, served: 0 }
  const url = await serverOf((response) => {
    seen.now += 1
    seen.most = Math.max(seen.most, seen.now)
    const stop = after(ms, () => response.writeHead(200, { 'content-type': 'application/json' }).end(body))
    response.once('close', () => {
      stop()
      seen.now -= 1
      if (response.writableFinished) seen.served += 1
    })
  })
  return { url, seen }
}

type Sharing = { url?: string; namespace: string; leaseMs?: number; log?: Log }

function slotSource({ url = redis.url, namespace, leaseMs = 6000, log = silentLog }: Sharing) {
  const { redis: client } = connectRedis(url, { retries: null }, silentLog)
  closing.push(() => client.disconnect())
  const holder = randomBytes(4).toString('hex')
  return { client, slots: openSharedSlots({ redis: client, holder, namespace, leaseMs, log }) }
}

function sharingPool(url: string, maxInFlightOfAll: number, sharing: Sharing): ModelPool {
  const { slots } = slotSource(sharing)
  const endpoints = [{ url, maxInFlightOfAll }]
  const pool = openModelPool({ endpoints, requestTimeoutMs: 20_000, retryBudgetMs: 1000, maxInFlight: 64, slots })
  closing.push(pool.close)
  return pool
}

const uniqueNamespace = () => `${redis.namespace}${randomBytes(4).toString('hex')}`

describe.concurrent('slots that are shared', () => {
  it('keep ten processes together within the limit of the server, and all of them are served', async () => {
    const { url, seen } = await countingServer(25)
    const sharing = { namespace: uniqueNamespace() }
    const pools = Array.from({ length: 10 }, () => sharingPool(url, 16, sharing))
    const asked = pools.flatMap((pool) => Array.from({ length: 60 }, () => pool.complete(modelRequest('m'), never)))
    expect(await Promise.all(asked)).toHaveLength(600)
    expect(seen).toMatchObject({ most: 16, served: 600 })
  })

  it('are given up by the process that had them all, as soon as another waits', async () => {
    const { url, seen } = await countingServer(20)
    const sharing = { namespace: uniqueNamespace() }
    const [first, second] = [sharingPool(url, 8, sharing), sharingPool(url, 8, sharing)]
    const stop = new AbortController()
    const busy = Array.from({ length: 12 }, async () => {
      while (!stop.signal.aborted) await first.complete(modelRequest('m'), never)
    })
    await until(() => seen, { holds: ({ now }) => now === 8 })
    await Promise.all(Array.from({ length: 20 }, () => second.complete(modelRequest('m'), never)))
    const [before, endpoint] = [seen.served, first.status().endpoints[0]]
    expect(endpoint?.inFlight).toBeLessThanOrEqual(8)
    stop.abort()
    await Promise.all(busy)
    expect(before).toBeGreaterThan(20)
    expect(seen.most).toBe(8)
  })

  it('come back when their holder dies', async () => {
    const { url, seen } = await countingServer(1)
    const sharing = { namespace: uniqueNamespace(), leaseMs: 1000 }
    const { client, slots } = slotSource(sharing)
    const lost = slots.at(url, 4)
    await until(() => lost.take(4), { holds: (answer) => answer === 'taken' })
    while (lost.take(1) === 'taken') continue
    client.disconnect()
    const pool = sharingPool(url, 4, sharing)
    const first = pool.complete(modelRequest('m'), never)
    await until(() => pool.status(), { holds: ({ waiting }) => waiting === 1 })
    expect((await first).content).toBe('hi')
    const askEight = () => Promise.all(Array.from({ length: 8 }, () => pool.complete(modelRequest('m'), never)))
    await until(async () => ({ replies: await askEight(), ...seen }), { holds: ({ most }) => most === 4 })
  })

  it('are not given twice when Redis has lost who holds them', async () => {
    const { url, seen } = await countingServer(20)
    const sharing = { namespace: uniqueNamespace() }
    const pools = [1, 2].map(() => sharingPool(url, 4, sharing))
    const stop = new AbortController()
    const busy = pools.flatMap((pool) =>
      Array.from({ length: 4 }, async () => {
        while (!stop.signal.aborted) await pool.complete(modelRequest('m'), never)
      }),
    )
    const { client } = slotSource(sharing)
    const atWork = () => [seen.now, ...pools.map((pool) => pool.status().endpoints[0]?.inFlight)]
    await until(atWork, { holds: (counts) => counts.join() === '4,2,2' })
    await client.del(...(await client.keys(`${sharing.namespace}:*`)))
    const before = seen.served
    await until(() => seen, { holds: ({ served }) => served > before + 200 })
    await until(atWork, { holds: (counts) => counts.join() === '4,2,2' })
    stop.abort()
    await Promise.all(busy)
    expect(seen.most).toBe(4)
  })

  it('leave nothing in Redis when all pools are closed', async () => {
    const { url } = await countingServer(1)
    const sharing = { namespace: uniqueNamespace() }
    const pools = [sharingPool(url, 4, sharing), sharingPool(url, 4, sharing)]
    await Promise.all(pools.map((pool) => pool.complete(modelRequest('m'), never)))
    const { client } = slotSource(sharing)
    expect(await client.keys(`${sharing.namespace}:*`)).toHaveLength(1)
    await Promise.all(pools.map((pool) => pool.close()))
    expect(await client.keys(`${sharing.namespace}:*`)).toEqual([])
  })
})

describe.concurrent('a server that says when to come back', () => {
  it('is left alone until then by every process, those that hold slots and those that come later', async () => {
    const waitS = 2
    const asked: number[] = []
    const url = await serverOf((response) => {
      asked.push(performance.now())
      if (asked.length === 2) response.writeHead(429, { 'retry-after': String(waitS) }).end()
      else response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    })
    const sharing = { namespace: uniqueNamespace() }
    const [holding, refused] = [sharingPool(url, 8, sharing), sharingPool(url, 8, sharing)]
    await holding.complete(modelRequest('m'), never)
    const asking = [refused.complete(modelRequest('m'), never).catch(() => undefined)]
    const pausedMs = (pool: ModelPool) => pool.status().endpoints[0]?.pausedMs ?? 0
    await until(() => pausedMs(holding), { holds: (ms) => ms > 0 })
    const late = sharingPool(url, 8, sharing)
    for (const pool of [holding, late])
      for (let more = 0; more < 4; more++) asking.push(pool.complete(modelRequest('m'), never))
    await Promise.all(asking)
    const [, refusedAt = 0, ...later] = asked
    expect(later.length).toBeGreaterThanOrEqual(8)
    expect(Math.min(...later) - refusedAt).toBeGreaterThanOrEqual(waitS * 1000)
  })
})

describe.concurrent('while Redis is unreachable', () => {
  it('every process goes on with what it has, or with one, and says so once', async () => {
    const own = await startTestRedis()
    const { url, seen } = await countingServer(5)
    const place = { url: own.url, namespace: uniqueNamespace() }
    const logs: RecordedLog[] = []
    const openPool = () => {
      const recorded = recordedLog()
      logs.push(recorded)
      return sharingPool(url, 6, { ...place, log: recorded.log })
    }
    const pools = [openPool(), openPool()]
    const askAll = (times: number) =>
      Promise.all(pools.flatMap((pool) => Array.from({ length: times }, () => pool.complete(modelRequest('m'), never))))
    await askAll(20)
    await own.stop()
    const fresh = openPool()
    seen.most = 0
    await Promise.all([askAll(40), fresh.complete(modelRequest('m'), never)])
    expect(seen.served).toBe(121)
    expect(seen.most).toBeLessThanOrEqual(7) // one for the process that never had any
    await until(() => logs.map(({ entries }) => entries), { holds: (all) => all.every(({ length }) => length === 1) })
  })
})
