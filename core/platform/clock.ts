import { setTimeout as sleepFor } from 'node:timers/promises'

/** The longest time one timer of Node's can wait, in ms: for more it fires at once. */
const longestTimerMs = 2 ** 31 - 1

/** Waits `ms` milliseconds; ends early with the signal's reason when it is aborted. */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  let left = ms
  for (; left > longestTimerMs; left -= longestTimerMs) await sleep(longestTimerMs, signal)
  await sleep(left, signal)
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await sleepFor(ms, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    throw signal?.aborted === true ? signal.reason : error
  })
}

/**
 * For long computations: await the returned function often. Every `ms` it lets the process do other work, and throws
 * the signal's reason if that was aborted.
 */
export function pauseEvery(ms: number, signal?: AbortSignal): () => Promise<void> {
  let turnEnd = performance.now() + ms
  return async () => {
    if (performance.now() <= turnEnd) return
    await delay(0, signal)
    turnEnd = performance.now() + ms
  }
}

/** Milliseconds since `start`, a value of `performance.now()`, rounded to a tenth. */
export function msSince(start: number): number {
  return Math.round((performance.now() - start) * 10) / 10
}

/** Calls `work` once after `ms`, unless the returned function is called first. Does not keep the process alive. */
export function after(ms: number, work: () => void): () => void {
  let timer: NodeJS.Timeout
  const wait = (left: number) => {
    timer = setTimeout(
      () => (left > longestTimerMs ? wait(left - longestTimerMs) : work()),
      Math.min(left, longestTimerMs),
    )
    timer.unref()
  }
  wait(ms)
  return () => clearTimeout(timer)
}

/**
 * Runs `work` again and again, `ms` after the last run has ended; its failures are dropped. The returned function stops
 * it and waits for a run in progress.
 */
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

/**
 * The clock of code that decides by time, so that a simulation can bring its own. Times are in ms, as `now()` returns
 * them.
 */
export type Clock = { now(): number; delay: typeof delay; after: typeof after }

export const systemClock: Clock = { now: () => performance.now(), delay, after }

/**
 * Settles as `work` does, or rejects at once with the reason of `signal` when that is aborted. Does not stop `work`.
 */
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

/**
 * Returns what `ending` resolves to, or what `late` returns when that takes longer than `limitMs`; throws the reason of
 * `signal` when it is aborted. Does not stop the work behind `ending`.
 */
export async function withinLimit<T>(
  ending: Promise<T>,
  { limitMs, signal, late }: { limitMs: number; signal: AbortSignal; late: () => T },
): Promise<T> {
  const cut = Promise.withResolvers<T>()
  const cancelLimit = after(limitMs, () => cut.resolve(late()))
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
