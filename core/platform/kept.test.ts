import { describe, expect, it } from 'vitest'
import { openKept } from './kept.ts'

/** Counts its loads; each waits until `answer` is called. */
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

describe('what is kept under a key', () => {
  it('is loaded once, also for those who ask while it is', async () => {
    const kept = openKept<{ n: number }>({ max: 2 })
    const { load, waiting, loads } = countedLoads()
    const both = Promise.all([kept('a', load), kept('a', load)])
    waiting[0]?.resolve({ n: 1 })
    expect(await both).toEqual([{ n: 1 }, { n: 1 }])
    expect(await kept('a', load)).toEqual({ n: 1 })
    expect(loads()).toBe(1)
  })

  it('is tried again after it failed for all who waited', async () => {
    const kept = openKept<{ n: number }>({ max: 2 })
    const { load, waiting } = countedLoads()
    const both = Promise.allSettled([kept('a', load), kept('a', load)])
    waiting[0]?.reject(new Error('away'))
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await kept('a', at(2))).toEqual({ n: 2 })
  })

  it.each([
    ['number', { max: 2 }],
    ['size', { maxSize: 20, sizeOf: () => 10 }],
  ])('goes when it was longest unused, by %s', async (_by, limit) => {
    const kept = openKept<{ n: number }>(limit)
    for (const key of ['a', 'b', 'a', 'c']) await kept(key, at(1))
    expect(await kept('a', at(2))).toEqual({ n: 1 })
    expect(await kept('b', at(2))).toEqual({ n: 2 })
  })

  it('reaches those who wait for it also when others took its place meanwhile', async () => {
    const kept = openKept<{ n: number }>({ max: 1 })
    const { load, waiting } = countedLoads()
    const slow = kept('a', load)
    await kept('b', at(2))
    waiting[0]?.resolve({ n: 1 })
    expect(await slow).toEqual({ n: 1 })
  })
})
