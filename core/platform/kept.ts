import { LRUCache } from 'lru-cache'

/** How much is kept, by number or by what `sizeOf` says. What was longest unused goes first. */
export type KeptLimit<V> = { max: number } | { maxSize: number; sizeOf(value: V): number }

/** What is kept under `key`, or what `load` comes to. Those who ask at the same time wait for one load. */
export type Kept<V> = (key: string, load: () => Promise<V>) => Promise<V>

/** Loads what never changes under its key once. A load that failed is not kept: the next one to ask tries again. */
export function openKept<V extends object>(limit: KeptLimit<V>): Kept<V> {
  const kept = new LRUCache<string, V, () => Promise<V>>({
    ...('max' in limit ? limit : { maxSize: limit.maxSize, sizeCalculation: limit.sizeOf }),
    fetchMethod: (_key, _stale, { context: load }) => load(),
    ignoreFetchAbort: true,
  })
  return async (key, load) => kept.get(key) ?? (await kept.forceFetch(key, { context: load }))
}
