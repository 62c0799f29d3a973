import { after } from '#platform/clock.ts'

export type Remembered<T> = {
  /** What is known of `key`, asked for at the first call. Rejects only with the signal's reason. */
  get(key: string, signal: AbortSignal): Promise<T>
}

export type RememberedOptions<T> = {
  /** `old` is what was said before. Must not reject. */
  load(key: string, old: T | undefined): Promise<T>
  keepMs(value: T): number
}

type Known<T> = { value: Promise<T>; isFresh: boolean }

/**
 * Keeps what `load` says of a key. Callers that come together wait for one load; once there is an
 * answer nobody waits: after `keepMs(answer)` the next caller is given the old one and starts another load.
 */
export function openRemembered<T>(options: RememberedOptions<T>): Remembered<T> {
  const known = new Map<string, Known<T>>()
  const keep = async (entry: Known<T>, loading: Promise<T>): Promise<void> => {
    const keptMs = options.keepMs(await loading)
    entry.value = loading
    after(keptMs, () => (entry.isFresh = false))
  }
  const begin = (key: string, old: Promise<T> | undefined): Known<T> => {
    const loading = Promise.resolve(old).then((value) => options.load(key, value))
    const entry: Known<T> = { value: old ?? loading, isFresh: true }
    known.set(key, entry)
    void keep(entry, loading)
    return entry
  }
  return {
    async get(key, signal) {
      const entry = known.get(key)
      if (entry?.isFresh === true) return untilAborted(entry.value, signal)
      return untilAborted(begin(key, entry?.value).value, signal)
    },
  }
}

/** Stops waiting, not the work: others may wait for it, too. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
