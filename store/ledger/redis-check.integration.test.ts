import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { boundPort } from '#platform/http-health.ts'
import { startLocalRedis, type LocalRedis } from '#platform/local-redis.ts'
import { silentLog } from '#platform/log.ts'
import { openReadiness, type Readiness } from '#platform/readiness.ts'
import { connectRedis, type RedisClient } from '#platform/redis-client.ts'
import { startRedisCluster } from '#testing/redis-cluster.ts'
import { openSmallRedis, startTestRedis } from '#testing/redis.ts'
import { until } from '#testing/until.ts'
import { aNewRun } from '#testing/open-test-ledger.ts'
import { openLedger } from './ledger.ts'
import { redisCheck, expectUsableRedis } from './redis-check.ts'

/** As a worker's readiness; with `share` as the API's. */
const readinessOf = (redis: RedisClient, share?: number) => openReadiness({ redis: redisCheck(redis, share) })

async function untilFound(readiness: Readiness, state: string): Promise<string | undefined> {
  const { parts } = await until(readiness, { holds: ({ parts: { redis } }) => redis?.state === state })
  return parts['redis']?.message
}

const answers = { status: 'ready', parts: { redis: { state: 'ok', message: 'it answers' } } }
const silent = { status: 'not ready', parts: { redis: { state: 'away', message: 'no answer within a second' } } }

describe('a Redis', () => {
  let dir = ''
  let server: LocalRedis
  let redis: RedisClient
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'remora-redis-'))
    server = await startLocalRedis({ env: process.env, dir, settings: { appendonly: 'no', save: '3600 1' } })
    redis = connectRedis(server.url, { retries: null }, silentLog).redis
  })
  afterEach(async () => {
    redis.disconnect()
    await server.stop()
    await rm(dir, { recursive: true, force: true })
  })

  /** How often commands were called, as Redis itself counts. */
  async function callsOf(...commands: string[]): Promise<number[]> {
    const client = new Redis(server.url, { enableReadyCheck: false }) // that check is an INFO as well
    const stats = await client.info('commandstats')
    client.disconnect()
    return commands.map((command) => Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0))
  }
  const askOften = async (readiness: Readiness) => Promise.all(Array.from({ length: 200 }, readiness))

  it('is asked once when 200 ask at once', async () => {
    const readiness = readinessOf(redis)
    await redis.get('connected')
    await redis.config('RESETSTAT')
    expect(await askOften(readiness)).toEqual(Array.from({ length: 200 }, () => answers))
    expect(await callsOf('ping', 'info')).toEqual([1, 1])
  })

  it('that drops keys for want of room is unsafe, and no service starts with it', async () => {
    await expectUsableRedis(redis)
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
    const message = 'it drops keys when its memory is used up (maxmemory-policy allkeys-lru): set noeviction'
    expect(await readinessOf(redis)()).toEqual({ status: 'not ready', parts: { redis: { state: 'unsafe', message } } })
    const refused = { code: 'CONFIG_006', message: `Redis cannot be used: ${message}` }
    await expect(expectUsableRedis(redis)).rejects.toMatchObject(refused)
    await redis.config('SET', 'maxmemory-policy', 'noeviction')
    await expectUsableRedis(redis)
  })

  it('is marked with the format of its data when it is empty, and refused when these are of another', async () => {
    await expectUsableRedis(redis, 'new')
    expect(await redis.get('new:{all}:format')).toBe('1')
    await redis.zadd('new:{all}:active', 1, 'default/r1')
    await expectUsableRedis(redis, 'new')
    await redis.set('new:{all}:format', '2')
    await redis.zadd('unmarked:{all}:active', 1, 'default/r1')
    for (const [namespace, is] of [
      ['new', 'format 2'],
      ['unmarked', 'without a format'],
    ] as const) {
      const message = `Redis has data of another version of Remora (${is}; this one has format 1): start with an empty Redis and bucket, or another REMORA_DATA_DIR`
      await expect(expectUsableRedis(redis, namespace)).rejects.toMatchObject({ code: 'CONFIG_006', message })
    }
    expect(await redis.keys('unmarked:*')).toEqual(['unmarked:{all}:active'])
  })

  it('is marked by its first run, too: a service may have started while it was away', async () => {
    await openLedger(redis, { namespace: 'filled' }).createRun(aNewRun())
    await expectUsableRedis(redis, 'filled')
  })

  it('that hangs is away within a second, is asked no second time, and ready as soon as it goes on', async () => {
    const readiness = readinessOf(redis)
    await redis.get('connected')
    await redis.config('RESETSTAT')
    process.kill(server.pid, 'SIGSTOP')
    try {
      for (let round = 0; round < 3; round += 1) {
        expect(await askOften(readiness)).toEqual(Array.from({ length: 200 }, () => silent))
      }
    } finally {
      process.kill(server.pid, 'SIGCONT')
    }
    await until(readiness, { holds: ({ status }) => status === 'ready' })
    expect(await callsOf('ping', 'info')).toEqual([1, 1])
  })

  it('that hangs fails commands for which an answer is due by then, and answers later ones when it goes on', async () => {
    const { redis: impatient } = connectRedis(server.url, { retries: 1, answerMs: 200 }, silentLog)
    const answered = () =>
      impatient.get('connected').then(
        () => true,
        () => false,
      )
    try {
      await until(answered)
      process.kill(server.pid, 'SIGSTOP')
      expect(await answered()).toBe(false)
      process.kill(server.pid, 'SIGCONT')
      await until(answered)
    } finally {
      process.kill(server.pid, 'SIGCONT')
      impatient.disconnect()
    }
  })

  it('that is killed is away for services that wait for it and for those that do not, until it is back', async () => {
    const impatient = connectRedis(server.url, { retries: 1, connectTimeoutMs: 2_000 }, silentLog).redis
    const [worker, api] = [readinessOf(redis), readinessOf(impatient)]
    try {
      expect([await worker(), await api()]).toEqual([answers, answers])
      process.kill(server.pid, 'SIGKILL')
      expect(await untilFound(worker, 'away')).toBe('no answer within a second')
      expect(await untilFound(api, 'away')).toBe('it cannot be reached')
      await server.stop()
      server = await startLocalRedis({ env: process.env, dir, port: Number(new URL(server.url).port) })
      await untilFound(worker, 'ok')
      await untilFound(api, 'ok')
    } finally {
      impatient.disconnect()
    }
  })

  it('that cannot write to its disk is full', async () => {
    await redis.set('a', '1')
    await rm(dir, { recursive: true })
    await redis.bgsave()
    await until(() => redis.info('persistence'), { holds: (text) => text.includes('rdb_last_bgsave_status:err') })
    await expect(redis.set('a', '2')).rejects.toThrow(/^MISCONF /)
    expect((await readinessOf(redis)()).parts).toEqual({
      redis: { state: 'full', message: 'it cannot write to its disk, and refuses every write' },
    })
    await redis.config('SET', 'save', '') // else it refuses to end
  })
})

it('a Redis above the share of the memory gate is full for the API, without room for everyone, and ready when it has room', async () => {
  const small = await openSmallRedis()
  const [worker, api] = [readinessOf(small.redis), readinessOf(small.redis, 0.8)]
  try {
    expect([await worker(), await api()]).toEqual([answers, answers])
    await small.fillTo(0.82)
    expect(await untilFound(api, 'full')).toBe('it has no room for another run')
    expect(await worker()).toEqual(answers)
    await small.fill()
    expect(await untilFound(worker, 'full')).toBe('its memory is used up, and it refuses writes')
    await small.empty()
    await untilFound(worker, 'ok')
    await untilFound(api, 'ok')
  } finally {
    await small.close()
  }
})

it('a Redis whose connection is lost while it is being made is found again', async () => {
  const server = await startTestRedis()
  let connections = 0
  const door = createServer((client) => {
    client.on('error', () => {})
    // The first one is cut after its first word, as by a network that is.
    if ((connections += 1) === 1) return void client.once('data', () => client.destroy())
    const upstream = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {})
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
  }).listen(0, '127.0.0.1')
  await once(door, 'listening')
  const { redis } = connectRedis(`redis://127.0.0.1:${boundPort(door)}`, { retries: null }, silentLog)
  const readiness = readinessOf(redis)
  try {
    redis.once('connect', () => void readiness()) // as it asks each second
    await once(redis, 'connect')
    expect(await untilFound(readiness, 'ok')).toBe('it answers')
    expect(connections).toBeGreaterThan(1)
  } finally {
    redis.disconnect()
    door.close()
    await server.stop()
  }
})

it('a cluster is away as long as one of its masters is', async () => {
  const cluster = await startRedisCluster({ nodeTimeoutMs: 1_000 })
  const { redis } = connectRedis(cluster.url, { retries: 2 }, silentLog)
  const readiness = readinessOf(redis)
  try {
    expect(await untilFound(readiness, 'ok')).toBe('it answers')
    await cluster.restart(cluster.nodeUrls.slice(1, 2), async () => {
      expect(await untilFound(readiness, 'away')).toMatch(/^(part of the cluster is away|it cannot be reached)$/)
    })
    expect(await untilFound(readiness, 'ok')).toBe('it answers')
  } finally {
    redis.disconnect()
    await cluster.stop()
  }
})
