import { describe, expect, it } from 'vitest'
import { leftMs } from './thread-link.ts'

describe('leftMs', () => {
  it('gives a thread that has not come to its first file all the time it needs', () => {
    expect(leftMs({ file: -1, forMs: 3_600_000 }, 10_000)).toBe(Infinity)
  })

  it('counts down from the limit while a file is parsed', () => {
    expect(leftMs({ file: 0, forMs: 4_000 }, 10_000)).toBe(6_000)
    expect(leftMs({ file: 3, forMs: 10_000 }, 10_000)).toBe(0)
  })
})
