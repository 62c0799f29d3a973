import { describe, expect, it } from 'vitest'
import { openCircuitBreaker } from './circuit-breaker.ts'

/** Random is 1: every pause is as long as it can be. */
function breakerAt(onChange = (_change: string) => {}) {
  const time = { now: 0 }
  const breaker = openCircuitBreaker({ now: () => time.now, random: () => 1, onChange })
  const fail = (times: number) => {
    for (let failed = 0; failed < times; failed++) breaker.fail()
  }
  return { time, breaker, fail }
}

describe('a circuit breaker', () => {
  it('opens after five failures in a row, and not when an answer came between', () => {
    const { breaker, fail } = breakerAt()
    fail(4)
    breaker.succeed()
    fail(4)
    expect([breaker.state(), breaker.admits()]).toEqual(['closed', true])
    fail(1)
    expect([breaker.state(), breaker.admits(), breaker.pauseLeftMs()]).toEqual(['open', false, 1000])
  })

  it('admits one probe after the pause, and closes when it is answered', () => {
    const { breaker, fail, time } = breakerAt()
    fail(5)
    time.now = 1000
    expect(breaker.admits()).toBe(true)
    expect(breaker.enter()).toBe(true)
    expect([breaker.state(), breaker.admits()]).toEqual(['half_open', false])
    breaker.succeed()
    expect([breaker.state(), breaker.admits(), breaker.enter()]).toEqual(['closed', true, false])
  })

  it('pauses longer each time that one fails, at most 30 s', () => {
    const { breaker, fail, time } = breakerAt()
    fail(5)
    const pauses = Array.from({ length: 7 }, () => {
      const pause = breaker.pauseLeftMs()
      time.now += pause
      breaker.enter()
      breaker.fail()
      return pause
    })
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  })

  it('prefers probes that have not failed there, and pauses no longer after one that has', () => {
    const { breaker, fail, time } = breakerAt()
    fail(5)
    time.now = 1000
    expect([breaker.admits('failed_here'), breaker.admits('fresh')]).toEqual([false, true])
    expect(breaker.pauseLeftMs()).toBe(1000)
    time.now = 2000
    expect(breaker.admits('failed_here')).toBe(true)
    breaker.enter()
    breaker.fail('failed_here')
    expect([breaker.state(), breaker.pauseLeftMs()]).toEqual(['open', 1000])
  })

  it('ends its pause when the server seems well', () => {
    const { breaker, fail } = breakerAt()
    fail(5)
    breaker.endPause()
    expect([breaker.state(), breaker.admits()]).toEqual(['open', true])
  })

  it('says when it opens and when it closes again, once each', () => {
    const changes: string[] = []
    const { breaker, time } = breakerAt((change) => changes.push(change))
    breaker.succeed()
    for (let failed = 0; failed < 9; failed++) breaker.fail()
    time.now = 1000
    breaker.enter()
    breaker.fail()
    time.now = 10_000
    breaker.enter()
    expect(changes).toEqual(['opened'])
    breaker.succeed()
    breaker.succeed()
    expect(changes).toEqual(['opened', 'closed'])
  })

  it('does not pause longer for requests that were under way when it opened', () => {
    const { breaker, fail } = breakerAt()
    fail(50)
    expect(breaker.pauseLeftMs()).toBe(1000)
  })

  it('admits another probe when the first is withdrawn', () => {
    const { breaker, fail, time } = breakerAt()
    fail(5)
    time.now = 1000
    breaker.enter()
    breaker.withdraw()
    expect(breaker.admits()).toBe(true)
  })
})
