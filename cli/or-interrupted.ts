/** The result of `work`, unless `signal` is aborted before: then its reason is thrown and `work` is left to itself. */
export async function orInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const interrupted = Promise.withResolvers<never>()
  const interrupt = () => interrupted.reject(signal.reason)
  signal.addEventListener('abort', interrupt, { once: true })
  if (signal.aborted) interrupt()
  try {
    return await Promise.race([interrupted.promise, work])
  } finally {
    signal.removeEventListener('abort', interrupt)
  }
}
