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
 * For computing that takes long: awaited often, it lets the process's other work go on every `ms`, and throws the
 * signal's reason then when it is aborted.
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
 * Runs `work` every `ms`, each time after the last has ended; its failures are dropped. The answer stops it and waits.
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

/** What decides by time takes it from here, so that a simulation can bring its own. Times are those of `now()`, in ms. */
export type Clock = { now(): number; delay: typeof delay; after: typeof after }

export const systemClock: Clock = { now: () => performance.now(), delay, after }
