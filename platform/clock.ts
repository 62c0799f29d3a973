import { setTimeout as sleepFor } from 'node:timers/promises'

const longestTimerMs = 2 ** 31 - 1

/** Waits `ms` milliseconds, not at all when negative; ends early with the signal's reason when it is aborted. */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  let left = ms
  for (; left > longestTimerMs; left -= longestTimerMs) await sleep(longestTimerMs, signal)
  await sleep(left, signal)
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await sleepFor(Math.max(ms, 0), undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    throw signal?.aborted === true ? signal.reason : error
  })
}

/** Lets the process do other work every `ms` of a long computation; throws the reason of an aborted signal. */
export function pauseEvery(ms: number, signal?: AbortSignal): () => Promise<void> {
  let turnEnd = performance.now() + ms
  return async () => {
    if (performance.now() <= turnEnd) return
    await delay(0, signal)
    turnEnd = performance.now() + ms
  }
}

export function msSince(start: number): number {
  return Math.round((performance.now() - start) * 10) / 10
}

/** Calls `work` once after `ms` (at once when negative), unless the returned function is called first. Does not keep the process alive. */
export function after(ms: number, work: () => void): () => void {
  let timer: NodeJS.Timeout
  const wait = (left: number) => {
    timer = setTimeout(
      () => (left > longestTimerMs ? wait(left - longestTimerMs) : work()),
      Math.max(0, Math.min(left, longestTimerMs)),
    )
    timer.unref()
  }
  wait(ms)
  return () => clearTimeout(timer)
}

/** Runs `work` `ms` after its last run ended; drops its failures. Returns a stop that waits for a run in progress. */
export function repeatEvery(ms: number, work: () => Promise<unknown>): () => Promise<void> {
  const stop = new AbortController()
  const running = (async () => {
    while (!stop.signal.aborted) {
      await delay(ms, stop.signal).catch(() => undefined)
      if (!stop.signal.aborted) await work().catch(() => undefined)
    }
  })()
  return async () => {
    stop.abort()
    await running
  }
}

/** Is given to code that decides by time, so that a simulation can bring its own; `now()` is in ms. */
export type Clock = { now(): number; delay: typeof delay; after: typeof after }

export const systemClock: Clock = { now: () => performance.now(), delay, after }

/** Settles as `work` does, or rejects with the reason of an aborted `signal`. Does not stop `work`. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // Not a race of two promises: every request to a model server comes through here.
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const abort = () => reject(signal.reason)
  const unlink = () => signal.removeEventListener('abort', abort)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  work.then(resolve, reject).finally(unlink)
  return promise
}

/** Resolves to what `ending` does, or to `late()` after `limitMs`; throws the reason of `signal`. Does not stop the work. */
export async function withinLimit<T>(
  ending: Promise<T>,
  {
    limitMs,
    signal,
    late,
    clock = systemClock,
  }: { limitMs: number; signal: AbortSignal; late: () => T; clock?: Pick<Clock, 'after'> },
): Promise<T> {
  const cut = Promise.withResolvers<T>()
  const cancelLimit = clock.after(limitMs, () => cut.resolve(late()))
  const abort = () => cut.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    return await Promise.race([ending, cut.promise])
  } finally {
    cancelLimit()
    signal.removeEventListener('abort', abort)
  }
}
