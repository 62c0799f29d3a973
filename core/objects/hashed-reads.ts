import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/hash.ts'
import { openKeptReads } from './kept-reads.ts'
import type { ByteRange, ObjectStore } from './object-store.ts'

/** Reads a whole object that is named by its hash. STORE_003 when it is missing or has another. */
export type HashedReads<T> = (key: string, hash: string) => Promise<T>

/** Keeps what `parse` made of up to `maxCacheBytes`; it throws STORE_003 for what is not what it should be. */
export function openHashedReads<T>(
  objects: Pick<ObjectStore, 'get'>,
  { parse, maxCacheBytes }: { parse(bytes: Uint8Array, key: string): T; maxCacheBytes: number },
): HashedReads<T> {
  const kept = openKeptReads<T>(maxCacheBytes)
  return (key, hash) =>
    kept(key, async () => {
      const bytes = await objects.get(key)
      if (sha256(bytes) !== hash) throw damagedObject(key)
      return { value: parse(bytes, key), bytes: bytes.length }
    })
}

/** Reads a part of an object of plain text that never changes, and keeps up to `maxCacheBytes` of such parts. */
export function openRangeReads(
  objects: Pick<ObjectStore, 'getRange'>,
  maxCacheBytes: number,
): (key: string, range: ByteRange) => Promise<string> {
  const kept = openKeptReads<string>(maxCacheBytes)
  return (key, range) =>
    kept(`${key} ${range.start} ${range.end}`, async () => {
      const bytes = await objects.getRange(key, range)
      return { value: textOf(bytes), bytes: bytes.length }
    })
}

export function damagedObject(key: string, cause?: unknown): AppError {
  return new AppError('STORE_003', `object ${key} does not hold what its name says`, { cause })
}

/** The lines of an object, each of which ends in a newline. */
export function linesOf(bytes: Uint8Array): string[] {
  return textOf(bytes).split('\n').slice(0, -1)
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}
