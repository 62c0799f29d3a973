import { after } from '#platform/clock.ts'

export type Remembered<T> = {
  /** What is known of `key`, asked for at the first call. Rejects only with the signal's reason. */
  get(key: string, signal: AbortSignal): Promise<T>
}

type Known<T> = { loading: Promise<T>; answer: { value: T } | undefined; isFresh: boolean }

/**
 * Keeps what `load` says of a key, which must not reject. Callers that come together wait for one load; once there is an
 * answer nobody waits: after `keepMs(answer)` the next caller is given the old one and starts another load.
 */
export function openRemembered<T>(options: { load(key: string): Promise<T>; keepMs(value: T): number }): Remembered<T> {
  const known = new Map<string, Known<T>>()
  const keep = async (entry: Known<T>): Promise<void> => {
    entry.answer = { value: await entry.loading }
    after(options.keepMs(entry.answer.value), () => (entry.isFresh = false))
  }
  const begin = (key: string, answer: Known<T>['answer']): Known<T> => {
    const entry: Known<T> = { loading: options.load(key), answer, isFresh: true }
    known.set(key, entry)
    void keep(entry)
    return entry
  }
  return {
    async get(key, signal) {
      signal.throwIfAborted()
      const old = known.get(key)
      const { answer, loading } = old?.isFresh === true ? old : begin(key, old?.answer)
      return answer === undefined ? untilAborted(loading, signal) : answer.value
    },
  }
}

/** Stops waiting, not the work: others may wait for it, too. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
