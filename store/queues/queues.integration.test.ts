import { beforeEach, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { aJobId, aPayload, openTestQueue, type TestQueue } from './test-queue.fixture.ts'

let queue: TestQueue
beforeEach(async () => {
  queue = await openTestQueue()
  return queue.close
})

async function jobKeys(): Promise<string[]> {
  const keys = await queue.redis.keys(queue.key('*'))
  return keys.filter((key) => key.includes('r00000000'))
}

describe('a queue', () => {
  it('delivers each dispatch once, however often it is added, and keeps nothing of it', async () => {
    const seen: number[] = []
    await queue.add(1)
    await queue.add(1)
    await queue.add(...Array.from({ length: 1_100 }, (_, index) => index + 2))
    const consumer = queue.consume(async (job) => void seen.push(job.dispatch), { concurrency: 50 })
    await until(() => seen, { holds: ({ length }) => length >= 1_101 })
    await consumer.close({ graceMs: 5_000 })
    expect(new Set(seen).size).toBe(1_101)
    expect(seen).toHaveLength(1_101)
    expect(await jobKeys()).toEqual([])
  })

  it('gives a consumer that is to take none no job either that comes while it waits for one', async () => {
    const seen: string[] = []
    const first = queue.consume(async ({ dispatch }) => void seen.push(`first ${dispatch}`))
    await queue.add(1)
    await until(() => seen, { holds: ({ length }) => length === 1 })
    const clients = async () => String(await queue.redis.call('CLIENT', 'LIST'))
    await until(clients, { holds: (list) => list.includes('cmd=bzpopmin') })
    first.setConcurrency(0)
    await queue.add(2)
    const other = queue.consume(async ({ dispatch }) => void seen.push(`other ${dispatch}`))
    await until(() => seen, { holds: ({ length }) => length === 2 })
    first.setConcurrency(2)
    await other.close({ graceMs: 1_000 })
    await queue.add(3)
    await until(() => seen, { holds: ({ length }) => length === 3 })
    expect(seen).toEqual(['first 1', 'other 2', 'first 3'])
    await first.close({ graceMs: 1_000 })
  })

  it('goes on after a handler that throws and a payload that is none, and delivers neither again', async () => {
    const seen: number[] = []
    await queue.add(1)
    await queue.producer.add('operations', aJobId(2), aPayload(0))
    await queue.add(3)
    const consumer = queue.consume(async ({ dispatch }) => {
      seen.push(dispatch)
      if (dispatch === 1) throw new Error('broken')
    })
    await until(jobKeys, { holds: ({ length }) => length === 0 })
    await consumer.close({ graceMs: 1_000 })
    expect(new Set(seen)).toEqual(new Set([1, 3]))
    expect(seen).toHaveLength(2)
    expect(queue.logged()).toHaveLength(2)
  })

  it('lets running jobs end within the grace when it is closed, and takes no more', async () => {
    const ended: number[] = []
    const gate = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    await queue.add(1)
    const consumer = queue.consume(
      async ({ dispatch }) => {
        started.resolve()
        await gate.promise
        ended.push(dispatch)
      },
      { concurrency: 1 },
    )
    await started.promise
    await queue.add(2)
    const closing = consumer.close({ graceMs: 10_000 })
    gate.resolve()
    await closing
    expect(ended).toEqual([1])
    expect(await jobKeys()).toHaveLength(1)
  })

  it('leaves a job to the next consumer when its handler gives up for the abort', async () => {
    const started = Promise.withResolvers<void>()
    await queue.add(1)
    const first = queue.consume(async (_, signal) => {
      started.resolve()
      await new Promise<void>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('cut off'))),
      )
    })
    await started.promise
    await first.close({ graceMs: 20 })

    const seen: number[] = []
    const second = queue.consume(async ({ dispatch }) => void seen.push(dispatch))
    await until(jobKeys, { holds: ({ length }) => length === 0 })
    await second.close({ graceMs: 1_000 })
    expect(seen).toEqual([1])
  })

  it('aborts a job whose lock is lost, and delivers it again, saying so', async () => {
    const started = Promise.withResolvers<void>()
    let deliveries = 0
    let aborted = false
    const stalled: number[] = []
    await queue.add(1)
    const consumer = queue.consume(
      async (_, signal, stalls) => {
        stalled.push(stalls)
        deliveries += 1
        if (deliveries > 1) return
        started.resolve()
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        aborted = true
      },
      { lockMs: 400 },
    )
    await started.promise
    await queue.redis.del(queue.key(`${aJobId(1)}:lock`))
    await until(() => [deliveries, aborted], { holds: ([count, isAborted]) => count === 2 && isAborted === true })
    await consumer.close({ graceMs: 1_000 })
    expect(stalled).toEqual([0, 1])
    expect(await jobKeys()).toEqual([])
  })
})
