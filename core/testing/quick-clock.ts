import { after, type Clock, delay } from '#platform/clock.ts'

/** A clock by which `times` as much time passes as does, so that limits are short and in proportion. */
export function quickClock(times: number): Clock {
  return {
    now: () => performance.now() * times,
    delay: (ms, signal) => delay(ms / times, signal),
    after: (ms, work) => after(ms / times, work),
  }
}
