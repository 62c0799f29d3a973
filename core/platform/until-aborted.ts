/** What `work` comes to, or at once the reason of `signal` when that is aborted. Stops nothing: that is the caller's. */
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
