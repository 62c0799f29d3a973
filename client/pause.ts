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
