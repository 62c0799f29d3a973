import { beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
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

  it('a newer consumer takes the run that an older one does not know', async () => {
    await queue.add(1)
    const refused: number[] = []
    const taken: number[] = []
    const older = queue.consume(async ({ dispatch }) => {
      refused.push(dispatch)
      throw new AppError('RUN_005', 'a run of a newer schema')
    })
    await until(() => refused, { holds: ({ length }) => length >= 2 })
    queue.consume(async ({ dispatch }) => void taken.push(dispatch))
    await older.close({ graceMs: 1_000 })
    await until(() => taken, { holds: ({ length }) => length === 1 })
    await until(() => queue.producer.missing('operations', [aJobId(1)]), { holds: ({ length }) => length === 1 })
    expect(taken).toEqual([1])
  })
})
