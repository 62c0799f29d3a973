import { after } from '#platform/clock.ts'

export type AttemptStop = ReturnType<typeof openAttemptStop>

/**
 * One signal for everything that can stop an attempt. Written by hand, because `AbortSignal.any` over `AbortSignal.timeout`
 * keeps 2.5 kB of every attempt in memory until its timeout fires, minutes after it has ended.
 */
export function openAttemptStop(sources: readonly AbortSignal[], limitMs: number) {
  const stop = new AbortController()
  let isTimeUp = false
  const stopTimer = after(limitMs, () => {
    isTimeUp = !stop.signal.aborted
    stop.abort()
  })
  const follow = (source: AbortSignal) => {
    const abort = () => stop.abort(source.reason)
    if (source.aborted) abort()
    source.addEventListener('abort', abort)
    return () => source.removeEventListener('abort', abort)
  }
  const leave = sources.map(follow)
  return {
    /** Aborted with the reason of the first aborted source, or when time is up. */
    signal: stop.signal,
    get isTimeUp() {
      return isTimeUp
    },
    /** Clears the timer and the listeners. */
    release() {
      stopTimer()
      for (const unfollow of leave) unfollow()
    },
  }
}
