import { describe, expect, it } from 'vitest'
import { openRateLimit } from './rate-limit.ts'

describe('openRateLimit', () => {
  it('lets a burst through, then as many as the time that has passed allows', () => {
    let now = 0
    const limit = openRateLimit({ perSecond: 2, burst: 3 }, () => now)
    const taken = () => [1, 2, 3, 4, 5].filter(() => limit.take('a')).length
    expect(taken()).toBe(3)
    now = 1_000
    expect(taken()).toBe(2)
    now = 100_000
    expect(taken()).toBe(3)
  })

  it('counts each key by itself and remembers 10,000 of them', () => {
    const limit = openRateLimit({ perSecond: 1, burst: 1 }, () => 0)
    for (let key = 0; key < 30_000; key += 1) expect(limit.take(`address ${key}`)).toBe(true)
    expect(limit.size()).toBe(10_000)
    expect(limit.take('address 29999')).toBe(false)
  })

  it('has no limit at 0', () => {
    const limit = openRateLimit({ perSecond: 0, burst: 0 })
    expect(Array.from({ length: 1000 }, () => limit.take('a')).every(Boolean)).toBe(true)
  })
})
