import { expect, it } from 'vitest'
import { openSmallRedis } from '#testing/redis.ts'
import { until } from '#testing/until.ts'
import { openTestQueue } from './test-queue.fixture.ts'

it('a consumer with work in hand asks a full Redis for more once a second, and does it all when there is room', async () => {
  const server = await openSmallRedis()
  const queue = await openTestQueue(server.url)
  const holdsTo = (memory: string) => server.redis.config('SET', 'maxmemory', memory)
  const letGo = Promise.withResolvers<void>()
  const begun = new Set<number>()
  let failures = 0
  const log = { ...queue.log, failing: () => void (failures += 1) }
  try {
    await queue.add(1, 2, 3, 4)
    const consumer = queue.consume(
      async ({ dispatch }) => {
        begun.add(dispatch)
        await letGo.promise
      },
      { concurrency: 1, log },
    )
    await until(() => begun, { holds: ({ size }) => size === 1 })
    await holdsTo('1kb')
    consumer.setConcurrency(0)
    consumer.setConcurrency(4)
    await until(() => failures, { holds: (count) => count > 0 })
    const from = performance.now()
    await until(() => performance.now() - from > 3_000)
    expect(failures).toBeLessThan(20)
    expect(begun.size).toBe(1)
    await holdsTo('30mb')
    letGo.resolve()
    await until(() => begun, { holds: ({ size }) => size === 4 })
  } finally {
    letGo.resolve()
    await holdsTo('30mb')
    await queue.close()
    await server.close()
  }
}, 60_000)
