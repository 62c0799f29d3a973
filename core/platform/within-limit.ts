import { after } from '#platform/clock.ts'

/**
 * What `ending` comes to, or what `late` says when that takes longer than `limitMs`; throws the reason of `signal` when
 * it is aborted. Stops nothing: that is the caller's.
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
