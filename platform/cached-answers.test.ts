import { describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { openCachedAnswers } from './cached-answers.ts'

/** Counts its loads; each waits until its entry of `waiting` is settled. */
function countedLoads() {
  const waiting: PromiseWithResolvers<{ n: number }>[] = []
  const load = async () => {
    const one = Promise.withResolvers<{ n: number }>()
    waiting.push(one)
    return one.promise
  }
  return { load, waiting, loads: () => waiting.length }
}

const at = (n: number) => async () => ({ n })

describe('a cached answer', () => {
  it('is loaded once, also for those who ask while it is', async () => {
    const answers = openCachedAnswers<{ n: number }>({ max: 2 })
    const { load, waiting, loads } = countedLoads()
    const both = Promise.all([answers.get('a', load), answers.get('a', load)])
    waiting[0]?.resolve({ n: 1 })
    expect(await both).toEqual([{ n: 1 }, { n: 1 }])
    expect(await answers.get('a', load)).toEqual({ n: 1 })
    expect(loads()).toBe(1)
  })

  it('is tried again after it failed for all who waited', async () => {
    const answers = openCachedAnswers<{ n: number }>({ max: 2 })
    const { load, waiting } = countedLoads()
    const both = Promise.allSettled([answers.get('a', load), answers.get('a', load)])
    waiting[0]?.reject(new Error('away'))
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await answers.get('a', at(2))).toEqual({ n: 2 })
  })

  it.each([
    ['size', { maxSize: 20, sizeOf: (): number => 10 }],
    ['number and size', { max: 2, maxSize: 100, sizeOf: (): number => 1 }],
  ])('goes when it was longest unused, by %s', async (_by, limit) => {
    const answers = openCachedAnswers<{ n: number }>(limit)
    for (const key of ['a', 'b', 'a', 'c']) await answers.get(key, at(1))
    expect(await answers.get('a', at(2))).toEqual({ n: 1 })
    expect(await answers.get('b', at(2))).toEqual({ n: 2 })
  })

  it('reaches those who wait for it also when others took its place meanwhile', async () => {
    const answers = openCachedAnswers<{ n: number }>({ max: 1 })
    const { load, waiting } = countedLoads()
    const slow = answers.get('a', load)
    await answers.get('b', at(2))
    waiting[0]?.resolve({ n: 1 })
    expect(await slow).toEqual({ n: 1 })
  })
})

describe('an answer that becomes stale', () => {
  const stale = () => openCachedAnswers<{ n: number }>({ max: 2, freshMs: () => 1 })

  it('is still given while it is loaded again', async () => {
    const answers = stale()
    const { load, waiting } = countedLoads()
    answers.set('a', { n: 1 })
    await until(
      async () => {
        expect(await answers.get('a', load)).toEqual({ n: 1 })
        return waiting
      },
      { holds: ({ length }) => length === 1 },
    )
    waiting[0]?.resolve({ n: 2 })
    await until(() => answers.get('a', load), { holds: ({ n }) => n === 2 })
  })

  it('is handed to the load, and stays when that fails', async () => {
    const answers = stale()
    answers.set('a', { n: 1 })
    const seen: ({ n: number } | undefined)[] = []
    const failing = async (old: { n: number } | undefined) => {
      seen.push(old)
      throw new Error('away')
    }
    await until(
      async () => {
        expect(await answers.get('a', failing)).toEqual({ n: 1 })
        return seen
      },
      { holds: ({ length }) => length > 1 },
    )
    expect(seen[0]).toEqual({ n: 1 })
  })
})

describe('a cache of sized answers', () => {
  const bytes = (length: number) => new Uint8Array(length)
  const open = () => openCachedAnswers<Uint8Array>({ maxSize: 10, sizeOf: ({ length }) => length })
  const missing = async () => bytes(0)

  it('counts a replaced value once', async () => {
    const cache = open()
    cache.set('a', bytes(6))
    cache.set('a', bytes(6))
    cache.set('b', bytes(4))
    expect(await cache.get('a', missing)).toHaveLength(6)
    expect(await cache.get('b', missing)).toHaveLength(4)
  })

  it('keeps no value over its whole size, and drops the old one it replaces', async () => {
    const cache = open()
    cache.set('a', bytes(3))
    cache.set('a', bytes(11))
    expect(await cache.get('a', missing)).toHaveLength(0)
  })

  it('takes a limit of 0: nothing is cached, and those who wait together still share a load', async () => {
    const cache = openCachedAnswers<Uint8Array>({ maxSize: 0, sizeOf: ({ length }) => length })
    let loads = 0
    const load = async () => bytes(2 + loads++)
    const both = await Promise.all([cache.get('a', load), cache.get('a', load)])
    expect(both.map(({ length }) => length)).toEqual([2, 2])
    expect(await cache.get('a', load)).toHaveLength(3)
  })
})
