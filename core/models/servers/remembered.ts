import { LRUCache } from 'lru-cache'
import { untilAborted } from '#platform/until-aborted.ts'

export type Remembered<T> = {
  /** What is known of `key`, asked for at the first call. Rejects only with the signal's reason. */
  get(key: string, signal: AbortSignal): Promise<T>
}

export type RememberedOptions<T> = {
  /** `old` is what was said before. Must not reject. */
  load(key: string, old: T | undefined): Promise<T>
  /** At least 1. */
  keepMs(value: T): number
}

/** More models than a server has. */
const maxKeys = 1000

/**
 * Keeps what `load` says of a key. Callers that come together wait for one load; once there is an
 * answer nobody waits: after `keepMs(answer)` the next caller is given the old one and starts another load.
 */
export function openRemembered<T extends object>({ load, keepMs }: RememberedOptions<T>): Remembered<T> {
  const known = new LRUCache<string, T>({
    max: maxKeys,
    allowStale: true,
    ignoreFetchAbort: true,
    async fetchMethod(key, old, { options }) {
      const value = await load(key, old)
      options.ttl = keepMs(value)
      return value
    },
  })
  return { get: (key, signal) => untilAborted(known.forceFetch(key), signal) }
}
