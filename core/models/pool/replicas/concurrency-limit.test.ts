import { describe, expect, it } from 'vitest'
import { openConcurrencyLimit } from './concurrency-limit.ts'

describe('a concurrency limit', () => {
  it('is halved once for all that were under way together, and never below one', () => {
    const time = { now: 10 }
    const limit = openConcurrencyLimit({ most: 16, now: () => time.now })
    for (const sentAt of [1, 2, 3]) limit.cut(sentAt)
    expect(limit.current()).toBe(8)
    for (const sentAt of [10, 11, 12, 13, 14]) {
      time.now = sentAt
      limit.cut(sentAt)
    }
    expect(limit.current()).toBe(1)
  })

  it('is cut from what was in flight, where that is less', () => {
    const limit = openConcurrencyLimit({ most: 64, now: () => 0 })
    limit.cut(0, { inFlight: 10 })
    expect(limit.current()).toBe(5)
  })

  it('is halved where one of a few was refused, however few they were', () => {
    const limit = openConcurrencyLimit({ most: 32, now: () => 0 })
    limit.cut(0, { inFlight: 1 })
    expect(limit.current()).toBe(16)
  })

  it('grows by one for as many good answers as it is large, up to the most', () => {
    const limit = openConcurrencyLimit({ most: 4, now: () => 0 })
    limit.cut(0)
    const sizes = Array.from({ length: 8 }, () => {
      limit.grow()
      return limit.current()
    })
    expect(sizes).toEqual([2, 3, 3, 3, 4, 4, 4, 4])
  })
})
