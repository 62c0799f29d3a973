import { LRUCache } from 'lru-cache'
import { type Clock, systemClock } from './clock.ts'

/** Bounds what a cache holds. The entry that was used longest ago is dropped first; one over `maxSize` is not cached. */
export type CacheLimit<V> = { max: number } | { max?: number; maxSize: number; sizeOf(answer: V): number }

export type CachedAnswers<V> = {
  /** Returns the cached answer, or the one that `load` gives to all who ask meanwhile. When it fails, it fails for all of them. */
  get(key: string, load: (stale: V | undefined) => Promise<V>): Promise<V>
  set(key: string, answer: V): void
}

/**
 * Caches answers and the loads in flight. With `freshMs` an answer becomes stale after that time (at least 1): the next call
 * still gets it, and starts a load in the background, which is given the stale answer and should not fail.
 */
export function openCachedAnswers<V extends object | string>(
  limit: CacheLimit<V> & { freshMs?(answer: V): number; clock?: Pick<Clock, 'now'> },
): CachedAnswers<V> {
  const { freshMs, clock = systemClock } = limit
  const answers = new LRUCache<string, V, (stale: V | undefined) => Promise<V>>({
    ...sizesOf(limit),
    perf: clock,
    allowStale: true,
    noDeleteOnFetchRejection: true,
    ignoreFetchAbort: true, // a load whose entry was dropped still answers those that wait for it
    async fetchMethod(_key, stale, { options, context: load }) {
      const answer = await load(stale)
      if (freshMs !== undefined) options.ttl = freshMs(answer)
      return answer
    },
  })
  return {
    get: (key, load) => answers.forceFetch(key, { context: load }),
    set: (key, answer) => void answers.set(key, answer, freshMs === undefined ? {} : { ttl: freshMs(answer) }),
  }
}

export function getOrMake<K, V extends {}>(
  map: { get(key: K): V | undefined; set(key: K, value: NoInfer<V>): unknown },
  key: K,
  make: () => V,
): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

/** lru-cache takes no sizes below 1. */
function sizesOf<V>(limit: CacheLimit<V>) {
  if (!('maxSize' in limit)) return { max: limit.max }
  const { max, maxSize, sizeOf } = limit
  const sizeCalculation = (answer: V) => Math.max(1, sizeOf(answer))
  return { ...(max === undefined ? {} : { max }), maxSize: Math.max(1, maxSize), sizeCalculation }
}
