import { beforeEach, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { aJobId, aPayload, openTestQueue, type TestQueue } from './test-queue.fixture.ts'

let queue: TestQueue
beforeEach(async () => {
  queue = await openTestQueue()
  return queue.close
})

/** Turns a job into one of a version this code does not know. */
async function renew(dispatch: number): Promise<void> {
  await queue.redis.hset(queue.key(aJobId(dispatch)), 'data', JSON.stringify({ ...aPayload(dispatch), v: 2, more: {} }))
}

describe('while two versions of the code run', () => {
  it('an older consumer leaves a job of a newer version waiting, and drops one that is none', async () => {
    await queue.add(1, 2, 3)
    await renew(1)
    await queue.redis.hset(queue.key(aJobId(2)), 'data', '{"v":"two"}')
    const seen: number[] = []
    queue.consume(async ({ dispatch }) => void seen.push(dispatch), { concurrency: 1 })
    await until(() => seen, { holds: (ids) => ids.includes(3) })
    expect(seen).toEqual([3])
    expect(await queue.redis.zrange(queue.key('delayed'), '0', '-1')).toEqual([aJobId(1)])
    expect(await queue.redis.exists(queue.key(aJobId(2)))).toBe(0)
  })
})
