export type Semaphore = {
  /** Waits for a permit, first come first served. Returns the function that releases it, to be called once. */
  acquire(signal: AbortSignal): Promise<() => void>
  free(): number
}

/**
 * A semaphore with `limit` permits. A caller whose signal is aborted stops waiting and gets the signal's reason thrown.
 */
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
