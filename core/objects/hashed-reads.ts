import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/hash.ts'
import { openCachedReads } from './cached-reads.ts'
import type { ObjectStore } from './object-store.ts'

/** Reads a whole object that is named by its hash. STORE_003 when it is missing or has another. */
export type HashedReads = (key: string, hash: string) => Promise<Uint8Array>

/** Keeps up to `maxCacheBytes` of what it has read. */
export function openHashedReads(objects: Pick<ObjectStore, 'get'>, maxCacheBytes: number): HashedReads {
  const cached = openCachedReads(objects, maxCacheBytes)
  return async (key, hash) => {
    const bytes = await cached(key)
    if (bytes === undefined || sha256(bytes) !== hash) throw damagedObject(key)
    return bytes
  }
}

export function damagedObject(key: string, cause?: unknown): AppError {
  return new AppError('STORE_003', `object ${key} does not hold what its name says`, { cause })
}

/** The lines of an object, each of which ends in a newline. */
export function linesOf(bytes: Uint8Array): string[] {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString().split('\n').slice(0, -1)
}
