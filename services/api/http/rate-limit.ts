import { LRUCache } from 'lru-cache'

export type RateLimit = {
  /** Whether one more request of `key` may be made now; if so it is counted. */
  take(key: string): boolean
  /** How many keys are remembered. */
  size(): number
}

const maxKeys = 10_000

/**
 * A bucket of `burst` requests per key that fills again at `perSecond`; 0 means no limit. Of this process alone: no
 * request waits for a store to be counted. The least recently used of 10,000 keys is forgotten, which gives its owner a
 * full bucket and no more.
 */
export function openRateLimit(
  { perSecond, burst }: { perSecond: number; burst: number },
  nowMs: () => number = () => performance.now(),
): RateLimit {
  const buckets = new LRUCache<string, { left: number; at: number }>({ max: maxKeys })
  return {
    take(key) {
      if (perSecond === 0) return true
      const now = nowMs()
      const { left, at } = buckets.get(key) ?? { left: burst, at: now }
      const filled = Math.min(burst, left + ((now - at) / 1000) * perSecond)
      const taken = filled >= 1
      buckets.set(key, { left: taken ? filled - 1 : filled, at: now })
      return taken
    },
    size: () => buckets.size,
  }
}
