export type Semaphore = {
  /** Waits for a permit, first come first served. Returns the function that releases it, to be called once. */
  acquire(signal: AbortSignal): Promise<() => void>
  free(): number
}

/** A caller whose signal is aborted stops waiting and gets the signal's reason thrown. */
export function openSemaphore(limit: number): Semaphore {
  const waiting = new Set<() => void>()
  let taken = 0
  const release = () => {
    const [next] = waiting
    if (next === undefined) {
      taken -= 1
      return
    }
    waiting.delete(next)
    next() // the next caller takes over the permit without its becoming free
  }
  const wait = (signal: AbortSignal) =>
    new Promise<boolean>((resolve) => {
      const admit = () => {
        signal.removeEventListener('abort', quit)
        resolve(true)
      }
      const quit = () => {
        waiting.delete(admit)
        resolve(false)
      }
      waiting.add(admit)
      signal.addEventListener('abort', quit, { once: true })
    })
  return {
    async acquire(signal) {
      signal.throwIfAborted()
      if (taken < limit) {
        taken += 1
        return release
      }
      const admitted = await wait(signal)
      if (!admitted) signal.throwIfAborted()
      return release
    },
    free: () => limit - taken,
  }
}

export type LoopThrottle = {
  /** Resolves when this caller may continue, first come first served. */
  pass(): Promise<void>
}

/** Lets `perTurn` callers continue in each turn of the event loop, for work that can wait and must not delay the sockets. */
export function openLoopThrottle(perTurn: number): LoopThrottle {
  const waiting = new Set<() => void>()
  const admit = () => {
    const admitted = [...waiting.values().take(perTurn)]
    for (const next of admitted) waiting.delete(next)
    if (waiting.size > 0) setImmediate(admit)
    for (const next of admitted) next()
  }
  return {
    pass: () =>
      new Promise<void>((resolve) => {
        waiting.add(resolve)
        if (waiting.size === 1) setImmediate(admit)
      }),
  }
}

/** Runs `work` one at a time. A call while it runs has it run once more; the promise is that of the last run, whose error all get. */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let isDue = false
  const run = async () => {
    try {
      while (isDue) {
        isDue = false
        await work()
      }
    } finally {
      running = undefined
    }
  }
  return () => {
    isDue = true
    return (running ??= run())
  }
}

/** Yields the results in the order of the items; `ahead` more are worked on meanwhile. Ends with the first error, at its item. */
export async function* workAhead<Item, Result>(
  items: Iterable<Item>,
  ahead: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Promise<Result>[] = []
  for (const item of items) {
    const result = work(item)
    result.catch(() => {}) // the caller gets it with its item, or has stopped before
    begun.push(result)
    if (begun.length > ahead) yield* begun.splice(0, 1)
  }
  yield* begun
}
