import { beforeEach, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { aJobId, openTestQueue, type TestQueue } from './test-queue.fixture.ts'

let queue: TestQueue
beforeEach(async () => {
  queue = await openTestQueue()
  return queue.close
})

/** A handler that records what it is given and holds the first job until it is let go or its signal is aborted. */
function holdingFirst() {
  const seen: number[] = []
  const gate = Promise.withResolvers<void>()
  let wasAborted = false
  const handler = async ({ dispatch }: { dispatch: number }, signal: AbortSignal) => {
    seen.push(dispatch)
    if (dispatch !== 1) return
    signal.addEventListener('abort', () => gate.resolve())
    await gate.promise
    wasAborted = signal.aborted
  }
  return { seen, handler, letGo: gate.resolve, wasAborted: () => wasAborted }
}

describe('a consumer', () => {
  it.each([1, 4])('goes on with new jobs when its queue was deleted under it (%i at a time)', async (concurrency) => {
    const { seen, handler, letGo } = holdingFirst()
    await queue.add(1)
    queue.consume(handler, { concurrency })
    await until(() => seen, { holds: ({ length }) => length === 1 })
    await queue.add(2, 3)
    if (concurrency > 1) await until(() => seen, { holds: ({ length }) => length === 3 })
    await queue.wipe()
    letGo()
    await queue.add(4, 5)
    await until(() => seen, { holds: (ids) => ids.includes(4) && ids.includes(5) })
    await queue.wipe()
    await queue.add(6)
    await until(() => seen, { holds: (ids) => ids.includes(6) })
    expect(seen).toHaveLength(concurrency === 1 ? 4 : 6)
  })

  it('goes on after one of its active jobs was deleted, and aborts it when it notices', async () => {
    const { seen, handler, wasAborted } = holdingFirst()
    await queue.add(1)
    queue.consume(handler, { concurrency: 1, lockMs: 400 })
    await until(() => seen, { holds: ({ length }) => length === 1 })
    await queue.redis.del(queue.key(aJobId(1)), queue.key(`${aJobId(1)}:lock`))
    await until(wasAborted)
    await queue.add(2)
    await until(() => seen, { holds: (ids) => ids.includes(2) })
    const traces = () =>
      Promise.all([
        queue.redis.llen(queue.key('active')),
        queue.redis.llen(queue.key('wait')),
        queue.redis.exists(queue.key(aJobId(1)), queue.key(`${aJobId(1)}:lock`)),
      ])
    await until(traces, { holds: (counts) => counts.every((count) => count === 0) })
    expect(seen).toEqual([1, 2])
  })

  it('is given a job that is in the queue twice until it has been done, and no longer', async () => {
    const { seen, handler, letGo } = holdingFirst()
    await queue.add(1, 2)
    await queue.redis.rpush(queue.key('wait'), aJobId(1), aJobId(2))
    queue.consume(handler, { concurrency: 1 })
    await until(() => seen, { holds: ({ length }) => length >= 1 })
    letGo()
    await queue.add(3)
    await until(async () => ({ ids: seen, waiting: await queue.redis.llen(queue.key('wait')) }), {
      holds: ({ ids, waiting }) => ids.includes(3) && waiting === 0,
    })
    expect(new Set(seen)).toEqual(new Set([1, 2, 3]))
    expect(queue.logged()).not.toContain('jobs did not end when aborted')
  })
})
