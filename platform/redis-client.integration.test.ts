import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordedLog, soonClock } from '#testing/recorded-log.ts'
import { startRedisCluster, type TestRedisCluster } from '#testing/redis-cluster.ts'
import { startTestRedis } from '#testing/redis.ts'
import { until } from '#testing/until.ts'
import { boundPort } from './http-health.ts'
import { connectRedis } from './redis-client.ts'
import { silentLog } from './log.ts'

/** A way to Redis on which open connections go silent: what is sent on them is lost, and nobody gets an error. */
async function openSilencer(redisUrl: string) {
  const target = new URL(redisUrl)
  const open = new Set<{ client: Socket; upstream: Socket }>()
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const end of [client, upstream]) end.on('error', () => {})
    client.pipe(upstream).pipe(client)
    open.add({ client, upstream })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `redis://127.0.0.1:${boundPort(server)}`,
    connections: () => open.size,
    silence() {
      for (const { client, upstream } of open) {
        client.unpipe(upstream).resume()
        upstream.unpipe(client).resume()
      }
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const { client, upstream } of open) [client, upstream].forEach((end) => end.destroy())
      await closed
    },
  }
}

describe('a connection that goes silent', () => {
  it('is replaced, and what waits for an answer is sent again', async () => {
    const server = await startTestRedis()
    const silencer = await openSilencer(server.url)
    const { log, messages } = recordedLog({ clock: soonClock })
    const { redis } = connectRedis(silencer.url, { retries: null, silentMs: 300 }, log)
    try {
      expect(await redis.set('key', 'value')).toBe('OK')
      silencer.silence()
      expect(await Promise.all([redis.get('key'), redis.incr('count')])).toEqual(['value', 1])
      expect(silencer.connections()).toBe(2)
      await until(messages, { holds: (lines) => lines.includes('Redis can be used again') })
      expect(messages()).toEqual(['Redis cannot be used', 'Redis can be used again'])
    } finally {
      redis.disconnect()
      await silencer.close()
      await server.stop()
    }
  })
})

describe('a connection to a cluster', () => {
  let cluster: TestRedisCluster
  beforeAll(async () => {
    cluster = await startRedisCluster()
  })
  afterAll(() => cluster.stop())

  it('finds every key by one node, and fails commands that have waited long enough for it', async () => {
    const [first = ''] = cluster.nodeUrls
    const { redis, isConnected } = connectRedis(first.replace('redis:', 'redis+cluster:'), { retries: 2 }, silentLog)
    try {
      const keys = Array.from({ length: 30 }, (_, index) => `key${index}`)
      for (const key of keys) await redis.set(key, key)
      expect(isConnected()).toBe(true)
      await cluster.restart(cluster.nodeUrls, async () => {
        await expect(redis.get('key1')).rejects.toThrow(/is available|is closed|redirections/)
        await expect(redis.get('key2')).rejects.toThrow(/is available|is closed|redirections/)
        expect(isConnected()).toBe(false)
      })
      await until(() => redis.set('key3', 'again').catch(() => undefined), { withinMs: 20_000 })
      expect(await redis.get('key3')).toBe('again')
    } finally {
      redis.disconnect()
    }
  })

  it.each(['redis', 'redis+cluster'])('logs an outage of %s:// at its beginning and at its end', async (scheme) => {
    const { log, messages } = recordedLog({ clock: soonClock })
    const [first = ''] = cluster.nodeUrls
    const opened = [1, 2, 3].map(() => connectRedis(first.replace('redis:', `${scheme}:`), { retries: null }, log))
    try {
      await Promise.all(opened.map(({ redis }) => redis.ping()))
      const waiting: Promise<unknown>[] = []
      await cluster.restart(cluster.nodeUrls, async () => {
        for (const { redis } of opened) waiting.push(redis.get('key').catch(() => undefined))
        await until(messages, { holds: (lines) => lines.includes('Redis cannot be used') })
      })
      await Promise.all(waiting)
      await until(messages, { holds: (lines) => lines.includes('Redis can be used again'), withinMs: 20_000 })
      // A cluster also names the node that it lost first.
      const ofAll = messages().filter((message) => !message.startsWith('Redis node'))
      expect(ofAll).toEqual(['Redis cannot be used', 'Redis can be used again'])
    } finally {
      for (const { redis } of opened) redis.disconnect()
    }
  })

  it('logs the outage of one node once, however many connections and tries there are', async () => {
    const { log, messages } = recordedLog()
    const opened = [1, 2, 3].map(() => connectRedis(cluster.url, { retries: null }, log).redis)
    const [, away = ''] = cluster.nodeUrls
    const keys = Array.from({ length: 30 }, (_, index) => `key${index}`)
    const readAll = () => opened.flatMap((redis) => keys.map((key) => redis.get(key)))
    try {
      await Promise.all(readAll())
      const waiting: Promise<unknown>[] = []
      await cluster.restart([away], async () => {
        waiting.push(...readAll())
        await until(messages, { holds: ({ length }) => length > 0 })
      })
      await Promise.all(waiting)
      const ofNode = messages().filter((message) => message.startsWith('Redis node'))
      expect(ofNode).toEqual([`Redis node ${new URL(away).host} cannot be used`])
    } finally {
      for (const redis of opened) redis.disconnect()
    }
  })

  it('lets go of what waits for it when it is told to', async () => {
    const { redis, stopWaiting } = connectRedis('redis+cluster://127.0.0.1:1', { retries: null }, silentLog)
    const waiting = redis.get('key')
    stopWaiting()
    await expect(waiting).rejects.toThrow(/is available|is closed|redirections/)
    redis.disconnect()
  })
})
