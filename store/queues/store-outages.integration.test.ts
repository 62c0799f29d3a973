import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { startLocalRedis, type LocalRedis } from '#platform/local-redis.ts'
import { until } from '#testing/until.ts'
import { aJobId, openTestQueue, type TestQueue } from './test-queue.fixture.ts'

const dispatches = Array.from({ length: 10 }, (_, at) => at + 1)
const patience = { withinMs: 40_000 }
const lockMs = 1_000

/** Has ten jobs in hand, which end when they are let go. */
async function holdJobs(queue: TestQueue) {
  const gate = Promise.withResolvers<void>()
  const counts = { begun: 0, aborted: 0 }
  const handler = async (_job: unknown, signal: AbortSignal) => {
    counts.begun += 1
    signal.addEventListener('abort', () => (counts.aborted += 1))
    await gate.promise
  }
  queue.consume(handler, { concurrency: dispatches.length, lockMs })
  await queue.add(...dispatches)
  await until(() => counts, { holds: ({ begun }) => begun === dispatches.length })
  return { letGo: gate.resolve, counts }
}

/** As when they have run out. */
async function loseLocks(queue: TestQueue): Promise<void> {
  await queue.redis.del(dispatches.map((dispatch) => queue.key(`${aJobId(dispatch)}:lock`)))
}

describe('the log of a consumer', () => {
  it('has one line for all jobs that a store that is away has kept from being done, which are tried again', async () => {
    const queue = await openTestQueue()
    const tries = new Map<number, number>()
    queue.consume(async ({ dispatch }) => {
      tries.set(dispatch, (tries.get(dispatch) ?? 0) + 1)
      if (tries.get(dispatch) !== 1) return
      throw new AppError('STORE_002', 'away', { cause: new Error('refused') })
    })
    await queue.add(...dispatches)
    await until(() => [...tries.values()], {
      holds: (counts) => counts.filter((count) => count === 2).length === dispatches.length,
    })
    expect(queue.logged()).toHaveLength(1)
    await queue.close()
  })

  it('has one line for an outage of Redis in which all jobs have lost their locks', { timeout: 120_000 }, async () => {
    const dir = await mkdtemp(join(tmpdir(), 'remora-redis-outage-'))
    let server: LocalRedis = await startLocalRedis({ env: process.env, dir })
    const queue = await openTestQueue(server.url)
    const { letGo, counts } = await holdJobs(queue)
    process.kill(server.pid, 'SIGKILL')
    await server.stop()
    await until(() => queue.logged(), { holds: ({ length }) => length > 0 })
    server = await startLocalRedis({ env: process.env, dir, port: Number(new URL(server.url).port) })
    await loseLocks(queue)
    letGo()
    await until(() => counts, { holds: ({ begun }) => begun > dispatches.length, ...patience })
    expect(queue.logged()).toHaveLength(1)
    await queue.close()
    await server.stop()
    await rm(dir, { recursive: true, force: true })
  })
})
