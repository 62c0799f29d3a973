import { openKept } from '#platform/kept.ts'

/** Reads `key`, and answers what it holds with the number of bytes that stands for in the cache. */
export type Reading<T> = (key: string) => Promise<{ value: T; bytes: number }>

/**
 * Keeps what was made of up to `maxBytes` of objects, or parts of them: each is fetched, verified and taken apart once. Those
 * who ask for one at the same time wait for the same request. For what never changes under its key.
 */
export function openKeptReads<T>(maxBytes: number): (key: string, reading: Reading<T>) => Promise<T> {
  const kept = openKept<{ value: T; bytes: number }>({ maxSize: maxBytes, sizeOf: ({ bytes }) => Math.max(1, bytes) })
  return async (key, reading) => (await kept(key, () => reading(key))).value
}
