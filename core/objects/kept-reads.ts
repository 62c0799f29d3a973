import { LRUCache } from 'lru-cache'

/** Reads `key`, and answers what it holds with the number of bytes that stands for in the cache. */
export type Reading<T> = (key: string) => Promise<{ value: T; bytes: number }>

/**
 * Keeps what was made of up to `maxBytes` of objects, or parts of them: each is fetched, verified and taken apart once. Those
 * who ask for one at the same time wait for the same request. For what never changes under its key.
 */
export function openKeptReads<T>(maxBytes: number): (key: string, reading: Reading<T>) => Promise<T> {
  const kept = new LRUCache<string, { value: T; bytes: number }, Reading<T>>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes),
    fetchMethod: (key, _stale, { context }) => context(key),
    ignoreFetchAbort: true,
  })
  return async (key, reading) => (kept.get(key) ?? (await kept.forceFetch(key, { context: reading }))).value
}
