import type { RequestProgress } from '#domain/turn.ts'
import { after } from '#platform/clock.ts'

export type AttemptStop = ReturnType<typeof openAttemptStop>

/** Is one signal for all that stops an attempt; its time runs only while a server works on it. `AbortSignal.any` would keep 2.5 kB until its timeout. */
export function openAttemptStop(sources: readonly AbortSignal[], limitMs: number) {
  const stop = new AbortController()
  let isTimeUp = false
  const time = openRunningTime(limitMs, () => {
    if (stop.signal.aborted) return
    isTimeUp = true
    stop.abort()
  })
  const follow = (source: AbortSignal) => {
    const abort = () => stop.abort(source.reason)
    if (source.aborted) abort()
    source.addEventListener('abort', abort)
    return () => source.removeEventListener('abort', abort)
  }
  const leave = sources.map(follow)
  const progress: RequestProgress = { queued: time.pause, sent: time.goOn, failed: time.rewind }
  return {
    /** Is aborted with the reason of the first aborted source, or when time is up. */
    signal: stop.signal,
    abort: () => stop.abort(),
    get isTimeUp() {
      return isTimeUp
    },
    /** Must be told of each request; `answered` is to be called when it has ended. */
    progress,
    answered: time.goOn,
    /** Stops the attempt's time while the attempt waits for something that is not its own work. */
    time: { pause: time.pause, goOn: time.goOn },
    waitedMs: time.pausedMs,
    release() {
      time.release()
      for (const unfollow of leave) unfollow()
    },
  }
}

function openRunningTime(limitMs: number, work: () => void) {
  const openedAt = performance.now()
  let countedMs = 0
  let runsSince: number | undefined
  let stopTimer = () => {}
  let isReleased = false
  const goOn = () => {
    if (runsSince !== undefined) return
    runsSince = performance.now()
    if (!isReleased) stopTimer = after(limitMs - countedMs, work)
  }
  const stopAt = (counted: number) => {
    stopTimer()
    countedMs = counted
    runsSince = undefined
  }
  const counted = () => countedMs + (runsSince === undefined ? 0 : performance.now() - runsSince)
  goOn()
  return {
    goOn,
    pause: () => stopAt(counted()),
    /** Pauses it as well, and does not count the time since it last went on. */
    rewind: () => stopAt(countedMs),
    pausedMs: () => Math.round(performance.now() - openedAt - counted()),
    release() {
      isReleased = true
      stopTimer()
    },
  }
}
