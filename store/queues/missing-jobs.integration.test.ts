import { beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { until } from '#testing/until.ts'
import { aJobId, openTestQueue, type TestQueue } from './test-queue.fixture.ts'

let queue: TestQueue
beforeEach(async () => {
  queue = await openTestQueue()
  return queue.close
})

const missing = (...dispatches: number[]) => queue.producer.missing('operations', dispatches.map(aJobId))

describe('the jobs a queue is asked for', () => {
  it('are missing when they were never added or are done, and no longer when they are added', async () => {
    await queue.add(1, 3)
    expect(await missing(1, 2, 3)).toEqual([aJobId(2)])
    queue.consume(async () => {})
    await until(() => missing(1, 3), { holds: ({ length }) => length === 2 })
    expect(await queue.producer.missing('operations', [])).toEqual([])
  })

  it('are not missing while they wait, are worked on, or rest', async () => {
    const gate = Promise.withResolvers<void>()
    const working = Promise.withResolvers<void>()
    await queue.add(1, 2, 3)
    queue.consume(
      async ({ dispatch }) => {
        if (dispatch === 1) throw new AppError('STORE_002', 'rests first')
        working.resolve()
        await gate.promise
      },
      { concurrency: 1 },
    )
    await working.promise
    expect(await queue.redis.zcard(queue.key('delayed'))).toBe(1)
    expect(await queue.redis.llen(queue.key('active'))).toBe(1)
    expect(await queue.redis.llen(queue.key('wait'))).toBe(1)
    expect(await missing(1, 2, 3)).toEqual([])
    gate.resolve()
  })

  it('are found among more than a pipeline takes', async () => {
    const dispatches = Array.from({ length: 2_100 }, (_, index) => index + 1)
    await queue.add(...dispatches.filter((dispatch) => dispatch % 700 !== 0))
    expect(await missing(...dispatches)).toEqual([700, 1_400, 2_100].map(aJobId))
  })

  it('are missing when the queue has lost their list or their data', async () => {
    await queue.add(1, 2)
    await queue.redis.del(queue.key(aJobId(1)))
    expect(await missing(1, 2)).toEqual([aJobId(1)])
    await queue.redis.hset(queue.key(aJobId(1)), 'stc', 1)
    expect(await missing(1, 2)).toEqual([aJobId(1)])
    await queue.redis.del(queue.key('wait'))
    expect(await missing(1, 2)).toEqual([aJobId(1), aJobId(2)])
    await queue.producer.discard('operations', [aJobId(1), aJobId(2)])
    expect(await queue.redis.exists(queue.key(aJobId(1)), queue.key(aJobId(2)))).toBe(0)
  })
})
