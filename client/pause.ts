/** Waits `ms` milliseconds, or throws the reason of `signal` once it is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const abort = () => reject(signal?.reason)
  const timer = setTimeout(resolve, ms)
  if (signal?.aborted === true) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return promise.finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  })
}

/** Calls `late` when it has not been told for `ms` that something was heard. */
export function watchSilence(ms: number, late: () => void): { heard(): void; stop(): void } {
  let timer = setTimeout(late, ms)
  const stop = () => clearTimeout(timer)
  return {
    heard() {
      stop()
      timer = setTimeout(late, ms)
    },
    stop,
  }
}
