import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { beforeEach, describe, expect, it } from 'vitest'
import { startLocalRedis, type LocalRedis } from '#platform/local-redis.ts'
import { startRedisCluster } from '#testing/redis-cluster.ts'
import { until } from '#testing/until.ts'
import { aJobId, openTestQueue, type TestQueue } from './test-queue.fixture.ts'

/** A loaded machine takes its time to start servers and to connect again. */
const patience = { withinMs: 40_000 }
const testMs = 150_000

/**
 * Adds jobs before, between and after restarts, and sees that each is worked on. What Redis had not written when it was
 * killed (it may put off writing while it waits for the disk) is lost: such a job comes again when its lock has run out.
 */
async function worksOver(queue: TestQueue, restart: () => Promise<void>): Promise<number[]> {
  const seen = new Set<number>()
  const gate = Promise.withResolvers<void>()
  const handler = async ({ dispatch }: { dispatch: number }, signal: AbortSignal) => {
    seen.add(dispatch)
    // After a long restart the lock is lost and the job comes again: the first handler must give its place free.
    if (dispatch === 1) await Promise.race([gate.promise, aborted(signal)])
  }
  const consumer = queue.consume(handler, { lockMs: 1_000 })
  await queue.add(1, 2)
  await until(() => seen, { holds: ({ size }) => size === 2 })
  await restart()
  await queue.add(3)
  await until(() => seen, { holds: (ids) => ids.has(3), ...patience })
  gate.resolve()
  await restart()
  await queue.add(4)
  await until(() => seen, { holds: (ids) => ids.has(4), ...patience })
  const ids = [1, 2, 3, 4].map(aJobId)
  await until(() => queue.producer.missing('operations', ids), { holds: ({ length }) => length === 4, ...patience })
  await consumer.close({ graceMs: 5_000 })
  return [...seen].toSorted((one, other) => one - other)
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut off'))))
}

/** Waits until the node has written its append-only file. A kill loses what is still in its buffer. */
async function hasWritten(nodeUrl: string): Promise<void> {
  const client = new Redis(nodeUrl)
  try {
    await until(() => client.info('persistence'), {
      holds: (text) => /^aof_buffer_length:0\r?$/m.test(text),
      ...patience,
    })
  } finally {
    client.disconnect()
  }
}

describe('a consumer', { timeout: testMs }, () => {
  let dir = ''
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'remora-redis-restart-'))
    return () => rm(dir, { recursive: true, force: true })
  })

  it('goes on when Redis is killed and comes back, with a job in hand or without', async () => {
    let server: LocalRedis = await startLocalRedis({ env: process.env, dir })
    const queue = await openTestQueue(server.url)
    const port = Number(new URL(server.url).port)
    try {
      const seen = await worksOver(queue, async () => {
        process.kill(server.pid, 'SIGKILL')
        await server.stop()
        server = await startLocalRedis({ env: process.env, dir, port })
      })
      expect(seen).toEqual([1, 2, 3, 4])
    } finally {
      await queue.close()
      await server.stop()
    }
  })

  it('goes on when the node of a cluster that has its queue is killed and comes back', async () => {
    const cluster = await startRedisCluster()
    const queue = await openTestQueue(cluster.url)
    try {
      const seen = await worksOver(queue, async () => {
        for (const nodeUrl of cluster.nodeUrls) await cluster.restart([nodeUrl])
      })
      expect(seen).toEqual([1, 2, 3, 4])
    } finally {
      await queue.close()
      await cluster.stop()
    }
  })

  it('closes while a whole cluster is away, and leaves its job to the next one', async () => {
    const cluster = await startRedisCluster()
    const queue = await openTestQueue(cluster.url)
    try {
      const started = Promise.withResolvers<void>()
      const consumer = queue.consume(
        async (_job, signal) => {
          started.resolve()
          await aborted(signal)
        },
        { lockMs: 1_000 },
      )
      await queue.add(1)
      await started.promise
      for (const nodeUrl of cluster.nodeUrls) await hasWritten(nodeUrl)
      await cluster.restart(cluster.nodeUrls, async () => {
        await consumer.close({ graceMs: 500 })
      })
      const seen: number[] = []
      queue.consume(async ({ dispatch }) => void seen.push(dispatch), { lockMs: 1_000 })
      await until(() => seen, { holds: ({ length }) => length > 0, ...patience })
      expect(queue.logged()).not.toContain('jobs did not end when aborted')
    } finally {
      await queue.close()
      await cluster.stop()
    }
  })
})
