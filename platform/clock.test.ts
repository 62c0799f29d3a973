import { afterEach, describe, expect, it, vi } from 'vitest'
import { after } from './clock.ts'

/** One more than Node's own timers can wait: they fire at once for it. */
const tooLong = 2 ** 31

afterEach(() => vi.useRealTimers())

describe('a wait that is longer than a timer can be', () => {
  it('ends when its time is up', () => {
    vi.useFakeTimers()
    let calls = 0
    const work = () => void calls++
    after(2 * tooLong, work)
    vi.advanceTimersByTime(2 * tooLong - 1)
    expect(calls).toBe(0)
    vi.advanceTimersByTime(1)
    expect(calls).toBe(1)
  })

  it('can be called off in any of its parts', () => {
    vi.useFakeTimers()
    let calls = 0
    const work = () => void calls++
    const cancel = after(2 * tooLong, work)
    vi.advanceTimersByTime(tooLong + 1)
    cancel()
    vi.advanceTimersByTime(2 * tooLong)
    expect(calls).toBe(0)
  })
})
