import { describe, expect, it } from 'vitest'
import { mapBounded } from './map-bounded.ts'

describe('mapBounded', () => {
  it('keeps the order and never has more than the limit under way', async () => {
    let running = 0
    let most = 0
    const results = await mapBounded([5, 4, 3, 2, 1], 2, async (value) => {
      running += 1
      most = Math.max(most, running)
      for (let turn = 0; turn < value; turn += 1) await Promise.resolve()
      running -= 1
      return value * 10
    })
    expect(results).toEqual([50, 40, 30, 20, 10])
    expect(most).toBe(2)
  })

  it('starts nothing more after a failure', async () => {
    const started: number[] = []
    const work = mapBounded([1, 2, 3, 4], 1, async (value) => {
      started.push(value)
      if (value === 2) throw new Error('two')
    })
    await expect(work).rejects.toThrow('two')
    expect(started).toEqual([1, 2])
  })
})
