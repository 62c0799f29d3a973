import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { Redis } from 'ioredis'
import { startLocalRedis } from '#platform/local-redis.ts'
import { usedShare } from '#store/ledger/memory-gate.ts'
import { delay } from '#platform/clock.ts'
import { isReply } from '#platform/redis-client.ts'

declare module 'vitest' {
  interface ProvidedContext {
    redisUrl?: string
  }
}

const image = 'redis:7-alpine'
const containerMs = 60_000
const durable = ['--save', '', '--appendonly', 'yes', '--maxmemory-policy', 'noeviction']

export type TestRedis = {
  url: string
  /** The ledger's `namespace` and, in braces, the queues' prefix, so that tests can share a server. */
  namespace: string
  close(): Promise<void>
}

/** For one test file: the suite's shared Redis, or its own when the suite has started none. Never flushed. */
export async function testRedis(): Promise<TestRedis> {
  const namespace = `t${randomBytes(6).toString('hex')}`
  const shared = inject('redisUrl')
  if (shared !== undefined) return { url: shared, namespace, close: async () => {} }
  const server = await startTestRedis()
  return { url: server.url, namespace, close: server.stop }
}

type Started = { url: string; stop(): Promise<void> }

/** REMORA_TEST_REDIS_URL, else a container where Docker can have one, else a program of this machine. */
export async function startTestRedis(): Promise<Started> {
  const given = process.env['REMORA_TEST_REDIS_URL']
  if (given !== undefined && given !== '') return { url: given, stop: async () => {} }
  return (await startContainer()) ?? (await startInTemporaryFolder())
}

/** Undefined for any failure: no Docker, no image, too slow. */
async function startContainer(): Promise<Started | undefined> {
  const limit = new AbortController()
  const starting = runContainer()
  try {
    return await Promise.race([starting, delay(containerMs, limit.signal).then(() => undefined)])
  } catch {
    return undefined
  } finally {
    limit.abort()
  }
}

async function runContainer(): Promise<Started> {
  const { GenericContainer, getContainerRuntimeClient } = await import('testcontainers')
  await getContainerRuntimeClient()
  const container = await new GenericContainer(image)
    .withExposedPorts(6379)
    .withCommand(['redis-server', ...durable, '--protected-mode', 'no'])
    .start()
  const url = `redis://${container.getHost()}:${container.getMappedPort(6379)}`
  return { url, stop: async () => void (await container.stop()) }
}

async function startInTemporaryFolder(): Promise<Started> {
  const dir = await mkdtemp(join(tmpdir(), 'remora-redis-'))
  const server = await startLocalRedis({ env: process.env, dir })
  const stop = async () => {
    await server.stop()
    await rm(dir, { recursive: true, force: true })
  }
  return { url: server.url, stop }
}

const mib = 1024 * 1024

export type SmallRedis = Awaited<ReturnType<typeof openSmallRedis>>

/** A Redis of its own with 30 MiB of memory. */
export async function openSmallRedis() {
  const dir = await mkdtemp(join(tmpdir(), 'remora-small-redis-'))
  const server = await startLocalRedis({ env: process.env, dir })
  const redis = new Redis(server.url)
  await redis.config('SET', 'maxmemory', '30mb')
  let fillings = 0
  const add = async (bytes: number) => redis.set(`filling:${fillings++}`, Buffer.alloc(bytes))
  return {
    url: server.url,
    redis,
    /** Fills the memory up to a share of it, not counting buffers that Redis gives back by itself. */
    async fillTo(share: number) {
      while ((await usedShare(redis)) < share) await add(mib / 4)
    },
    /** Fills it until it takes no byte more. */
    async fill() {
      for (let bytes = mib; bytes >= 1; bytes = Math.floor(bytes / 2)) await addUntilFull(() => add(bytes))
    },
    async empty() {
      for (let at = 0; at < fillings; at += 100) {
        await redis.del(...Array.from({ length: 100 }, (_, next) => `filling:${at + next}`))
      }
    },
    async close() {
      await redis.quit()
      await server.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function addUntilFull(add: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await add()
    } catch (error) {
      if (isReply(error, 'OOM')) return
      throw error
    }
  }
}
