import { Redis } from 'ioredis'
import { beforeAll, describe, expect, it } from 'vitest'
import { testLedger } from '#testing/open-test-ledger.ts'
import { startTestRedis } from '#testing/redis.ts'
import { until } from '#testing/until.ts'
import { useOpened } from '#testing/use-opened.ts'
import { collectionKeys } from './keys.ts'
import { openPutPermit, withCollectionWindow } from './collection-window.ts'
import { openRetention, type Retention } from './retention.ts'

let retention: Retention
const test = useOpened(testLedger)
beforeAll(async () => {
  retention = openRetention(test.redis, test.namespace)
})

const isPermitted = async () => (await test.redis.exists(collectionKeys(test.namespace).permits)) === 1
const isWindowWanted = async () => (await test.redis.exists(collectionKeys(test.namespace).window)) === 1

describe('puts and the windows of a collection', () => {
  it('exclude each other: a window waits for the permits given, and new ones wait for its end', async () => {
    const log: string[] = []
    const permit = openPutPermit(test.redis, test.namespace, 1_000)
    await permit(async () => void log.push('first put'))
    const window = retention.inWindow(async () => {
      expect(await isPermitted()).toBe(false)
      log.push('window')
      const late = openPutPermit(test.redis, test.namespace, 1_000)(async () => void log.push('late put'))
      // The same process' own permit has run out too.
      const own = permit(async () => void log.push('own put'))
      return { late, own }
    })
    await until(isWindowWanted)
    const { late, own } = (await window) ?? {}
    await Promise.all([late, own])
    expect(log.slice(0, 2)).toEqual(['first put', 'window'])
    expect(log.slice(2).toSorted()).toEqual(['late put', 'own put'])
  })

  it('do not ask Redis all the while that they wait', async () => {
    const server = await startTestRedis() // its own: nobody else's commands are counted
    const redis = new Redis(server.url)
    await openPutPermit(redis, test.namespace, 500)(async () => {})
    await openRetention(redis, test.namespace).inWindow(async () => {})
    const stats = await redis.info('commandstats')
    redis.disconnect()
    await server.stop()
    const asked = Number(/^cmdstat_pttl:calls=(\d+)/m.exec(stats)?.[1] ?? 0)
    expect(asked).toBeGreaterThan(0)
    expect(asked).toBeLessThan(10)
  })

  it('make a put again that outlasted its permit, since a window may have begun in it', async () => {
    const permit = openPutPermit(test.redis, test.namespace, 500)
    let times = 0
    await permit(async () => {
      times += 1
      if (times === 1) await until(async () => !(await isPermitted()))
    })
    expect(times).toBe(2)
  })

  it('cost one question to Redis for many puts', async () => {
    const permit = openPutPermit(test.redis, test.namespace, 60_000)
    await permit(async () => {})
    await test.redis.del(collectionKeys(test.namespace).permits)
    for (let at = 0; at < 100; at++) await permit(async () => {})
    expect(await isPermitted()).toBe(false)
  })

  it('let one collector in at a time', async () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const first = retention.inWindow(async () => {
      await ended
      return 'first'
    })
    await until(isWindowWanted)
    expect(await retention.inWindow(async () => 'second')).toBeUndefined()
    end()
    expect(await first).toBe('first')
    expect(await retention.inWindow(async () => 'third')).toBe('third')
  })
})

describe('a window', () => {
  const times = { windowMs: 10_000, workMs: 5_000 }
  const within = <T>(work: Parameters<typeof withCollectionWindow<T>>[2], over = {}) =>
    withCollectionWindow(test.redis, test.namespace, work, { ...times, ...over })

  it('is given up while a slow put has a long permit, and keeps nobody out', async () => {
    await openPutPermit(test.redis, test.namespace, 60_000)(async () => {})
    await expect(within(async () => 'worked')).rejects.toMatchObject({ code: 'STORE_002' })
    expect(await isWindowWanted()).toBe(false)
    await test.redis.del(collectionKeys(test.namespace).permits)
    expect(await within(async () => 'worked')).toBe('worked')
  })

  it('is over by the clock when its process was stopped, though no timer has gone off yet', async () => {
    const seen = await within(
      async ({ timeUp, isOpen }) => {
        const before = await isOpen()
        stopThisThread(550)
        return { before, timeUp: timeUp.aborted, after: await isOpen() }
      },
      { workMs: 500 },
    )
    expect(seen).toEqual({ before: true, timeUp: false, after: false })
  })

  it('is over when Redis lost it or gave it to another', async () => {
    const { window } = collectionKeys(test.namespace)
    for (const another of [undefined, 'another']) {
      const seen = await within(async ({ isOpen }) => {
        await (another === undefined ? test.redis.del(window) : test.redis.set(window, another))
        return isOpen()
      })
      expect(seen).toBe(false)
    }
    expect(await test.redis.getdel(window)).toBe('another')
  })
})

/** As SIGSTOP does: no callback and no timer runs. */
function stopThisThread(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

describe('inTurn', () => {
  it('lets one process in at a time, and none again before the rest is over', async () => {
    let end = (): void => {}
    const first = retention.inTurn(0, () => new Promise<string>((resolve) => (end = () => resolve('first'))))
    await until(() => test.redis.exists(collectionKeys(test.namespace).lease), { holds: (count) => count === 1 })
    expect(await retention.inTurn(0, async () => 'second')).toBeUndefined()
    end()
    expect(await first).toBe('first')
    expect(await retention.inTurn(60_000, async () => 'third')).toBe('third')
    expect(await retention.inTurn(60_000, async () => 'fourth')).toBeUndefined()
  })

  it('frees the lease of work that failed, and leaves alone one that another took over', async () => {
    const { lease, rest } = collectionKeys(test.namespace)
    await test.redis.del(rest)
    await expect(retention.inTurn(60_000, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(await test.redis.exists(lease, rest)).toBe(0)
    await retention.inTurn(0, async () => test.redis.set(lease, 'another'))
    expect(await test.redis.get(lease)).toBe('another')
    await test.redis.del(lease)
  })
})
