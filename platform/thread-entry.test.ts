import { describe, expect, it } from 'vitest'
import { leftMs } from './thread-entry.ts'

const limits = { limitMs: 10_000, startLimitMs: 30_000 }

describe('leftMs', () => {
  it('gives a thread that has not come to its first item all the time it needs', () => {
    expect(leftMs({ hasStarted: true, item: -1, forMs: 3_600_000 }, limits)).toBe(Infinity)
  })

  it('counts down from the limit while an item is worked on', () => {
    expect(leftMs({ hasStarted: true, item: 0, forMs: 4_000 }, limits)).toBe(6_000)
    expect(leftMs({ hasStarted: true, item: 3, forMs: 10_000 }, limits)).toBe(0)
  })

  it('gives a thread that loads its modules the time for starting', () => {
    expect(leftMs({ hasStarted: false, item: -1, forMs: 10_000 }, limits)).toBe(20_000)
    expect(leftMs({ hasStarted: false, item: -1, forMs: 10_000 }, { ...limits, startLimitMs: Infinity })).toBe(Infinity)
  })
})
