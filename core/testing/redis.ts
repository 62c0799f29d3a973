import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { startLocalRedis } from '#platform/local-redis.ts'
import { delay } from '#platform/clock.ts'

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
  /** Unique per call: the ledger's `namespace`, and in braces the queues' prefix, so that tests share a server unseen. */
  namespace: string
  close(): Promise<void>
}

/**
 * A real Redis for one test file: the suite's shared one, or its own when the suite has not started one. Never flushed.
 */
export async function testRedis(): Promise<TestRedis> {
  const namespace = `t${randomBytes(6).toString('hex')}`
  const shared = inject('redisUrl')
  if (shared !== undefined) return { url: shared, namespace, close: async () => {} }
  const server = await startTestRedis()
  return { url: server.url, namespace, close: server.stop }
}

/** REMORA_TEST_REDIS_URL, else a container where Docker can have one, else a program of this machine. */
export async function startTestRedis(): Promise<{ url: string; stop(): Promise<void> }> {
  const given = process.env['REMORA_TEST_REDIS_URL']
  if (given !== undefined && given !== '') return { url: given, stop: async () => {} }
  return (await startContainer()) ?? (await startInTemporaryFolder())
}

/** Undefined for any failure: no Docker, no image, too slow. */
async function startContainer(): Promise<{ url: string; stop(): Promise<void> } | undefined> {
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

async function runContainer(): Promise<{ url: string; stop(): Promise<void> }> {
  const { GenericContainer, getContainerRuntimeClient } = await import('testcontainers')
  await getContainerRuntimeClient()
  const container = await new GenericContainer(image)
    .withExposedPorts(6379)
    .withCommand(['redis-server', ...durable, '--protected-mode', 'no'])
    .start()
  const url = `redis://${container.getHost()}:${container.getMappedPort(6379)}`
  return { url, stop: async () => void (await container.stop()) }
}

async function startInTemporaryFolder(): Promise<{ url: string; stop(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'remora-redis-'))
  const server = await startLocalRedis({ dir })
  const stop = async () => {
    await server.stop()
    await rm(dir, { recursive: true, force: true })
  }
  return { url: server.url, stop }
}
