import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ModelRequest } from '#domain/turn.ts'
import { connectRedis } from '#platform/redis-client.ts'
import { startTestRedis, testRedis, type TestRedis } from '#testing/redis.ts'
import { until } from '#testing/until.ts'
import { openModelPool, type ModelPool } from '../model-pool.ts'
import { playServer, type PlayedAnswer, type PlayedBody } from './played-server.fixture.ts'
import { probeUser } from './probe-requests.ts'
import { openSharedCapabilityStore } from './capability-store.ts'
import { silentLog } from '#platform/log.ts'

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
const request: ModelRequest = {
  model: 'small',
  messages: [{ role: 'user', content: 'Go.' }],
  tools: [{ name: 'submit_result', description: 'Ends.', parameters: { type: 'object' } }],
  toolChoice: { name: 'submit_result' },
  temperature: 0,
  maxTokens: 100,
}
const withoutNames = (body: PlayedBody): PlayedAnswer =>
  typeof body.tool_choice === 'object' ? { status: 400 } : body.tool_choice === 'required' ? 'call' : { content: 'Hi' }

async function play(first: (body: PlayedBody) => PlayedAnswer) {
  const playing = { play: first }
  const server = await playServer((body) => playing.play(body))
  closing.push(server.close)
  const probes = () => server.bodies.filter(({ user }) => user === probeUser).length
  return { url: server.url, playing, probes }
}

type Sharing = { namespace: string; url?: string; leaseMs?: number }

function openStore({ namespace, url = redis.url, leaseMs = 60_000 }: Sharing) {
  const { redis: client } = connectRedis(url, { retries: null }, silentLog)
  closing.push(() => client.disconnect())
  return openSharedCapabilityStore({ redis: client, namespace, leaseMs })
}

/** A worker's. */
function sharingPool(url: string, sharing: Sharing): ModelPool {
  const pool = openModelPool({
    endpoints: [{ url }],
    requestTimeoutMs: 20_000,
    retryBudgetMs: 1000,
    maxInFlight: 8,
    capabilityStore: openStore(sharing),
  })
  closing.push(pool.close)
  return pool
}

const uniqueNamespace = () => `${redis.namespace}${randomBytes(4).toString('hex')}`

describe.concurrent('what is found of a server', () => {
  it('is probed by one of ten processes that start together, and is valid for all and for later ones', async () => {
    const { url, probes } = await play(withoutNames)
    const sharing = { namespace: uniqueNamespace() }
    const pools = Array.from({ length: 10 }, () => sharingPool(url, sharing))
    const replies = await Promise.all(pools.map((pool) => pool.complete(request, never)))
    const instead = ['tool_choice submit_result: required, with that tool alone']
    expect(replies.map(({ workarounds }) => workarounds)).toEqual(Array.from({ length: 10 }, () => instead))
    const asked = probes()
    expect(asked).toBeLessThanOrEqual(15)
    const later = await sharingPool(url, sharing).complete(request, never)
    expect(later.workarounds).toEqual(instead)
    expect(probes()).toBe(asked)
  })

  it('is not probed by the others either while a busy server allows no result', async () => {
    const { url, probes } = await play(() => ({ status: 429 }))
    const sharing = { namespace: uniqueNamespace() }
    await sharingPool(url, sharing).probe('small', never)
    await Promise.all([1, 2, 3].map(() => sharingPool(url, sharing).probe('small', never)))
    expect(probes()).toBe(1)
  })
})

/** One after the other: they have short leases, which a busy process may lose. */
describe('the lease of a probe', () => {
  it('is probed by another process when the one with the lease has died', async () => {
    const { url, probes } = await play(withoutNames)
    const sharing = { namespace: uniqueNamespace(), leaseMs: 300 }
    expect(await openStore(sharing).lease(url, 'small')).toEqual({ kind: 'mine', known: undefined })
    const reply = await sharingPool(url, sharing).complete(request, never)
    expect(reply.workarounds).toHaveLength(1)
    expect(probes()).toBeGreaterThan(5)
  })

  it('is probed by one alone, however long its probe takes', async () => {
    const { url, probes } = await play(() => 'hang')
    const sharing = { namespace: uniqueNamespace(), leaseMs: 400 }
    const { redis: client } = connectRedis(redis.url, { retries: null }, silentLog)
    closing.push(() => client.disconnect())
    const turn = `${sharing.namespace}:{findings:${url} small}:turn`
    void sharingPool(url, sharing).probe('small', never)
    await until(probes, { holds: (count) => count === 1 })
    const mark = await client.get(turn)
    void sharingPool(url, sharing).probe('small', never)
    for (const seen = { leftMs: 0, renewals: -1 }; seen.renewals < 8;) {
      await until(async () => {
        const before = seen.leftMs
        seen.leftMs = await client.pttl(turn)
        return seen.leftMs > before
      })
      seen.renewals += 1
    }
    expect(await client.get(turn)).toBe(mark)
    expect(probes()).toBe(1)
  })

  it('reaches the others when one of them finds that it is no longer valid', async () => {
    const { url, playing, probes } = await play(() => 'call')
    const sharing = { namespace: uniqueNamespace() }
    const [one, other] = [sharingPool(url, sharing), sharingPool(url, sharing)]
    await Promise.all([one.complete(request, never), other.complete(request, never)])
    playing.play = withoutNames
    await expect(one.complete(request, never)).rejects.toMatchObject({ code: 'AGENT_002' })
    await until(() => one.complete(request, never).catch(() => undefined))
    await expect(other.complete(request, never)).rejects.toMatchObject({ code: 'AGENT_002' })
    await until(() => other.complete(request, never).catch(() => undefined))
    expect(probes()).toBeLessThanOrEqual(2 * 15)
  })

  it('is probed by each process itself while Redis is unreachable', async () => {
    const { url, probes } = await play(withoutNames)
    const { url: away, stop } = await startTestRedis()
    await stop()
    const reply = await sharingPool(url, { namespace: uniqueNamespace(), url: away }).complete(request, never)
    expect(reply.workarounds).toHaveLength(1)
    expect(probes()).toBeGreaterThan(5)
  })
})
