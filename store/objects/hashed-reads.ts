import type { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import type { ByteRange, ObjectStore } from './object-store.ts'

/** Reads whole objects named by their hash, and caches the results of `parse`. STORE_003 for one that is missing or has another hash. */
export function openHashedReads<T>(
  objects: Pick<ObjectStore, 'get'>,
  { parse, maxCacheBytes }: { parse(bytes: Uint8Array, key: string): T; maxCacheBytes: number },
): (key: string, hash: string) => Promise<T> {
  const cache = openCachedAnswers<{ value: T; bytes: number }>({ maxSize: maxCacheBytes, sizeOf: ({ bytes }) => bytes })
  return async (key, hash) => {
    const { value } = await cache.get(key, async () => {
      const bytes = await objects.get(key)
      if (sha256(bytes) !== hash) throw damagedObject(key)
      return { value: parse(bytes, key), bytes: bytes.length }
    })
    return value
  }
}

/** Reads parts of objects of plain text that never change, and caches up to `maxCacheBytes` of them. */
export function openRangeReads(objects: Pick<ObjectStore, 'getRange'>, maxCacheBytes: number) {
  const cache = openCachedAnswers<string>({ maxSize: maxCacheBytes, sizeOf: Buffer.byteLength })
  return (key: string, range: ByteRange) =>
    cache.get(`${key} ${range.start} ${range.end}`, async () => textOf(await objects.getRange(key, range)))
}

export function damagedObject(key: string, cause?: unknown): AppError {
  return new AppError('STORE_003', `object ${key} does not hold what its name says`, { cause })
}

export function linesOf(bytes: Uint8Array): string[] {
  return textOf(bytes).split('\n').slice(0, -1)
}

/** Throws STORE_003 when the line is no JSON, or off `schema`. */
export function parseLine<Schema extends z.ZodType>(line: string, key: string, schema: Schema): z.infer<Schema> {
  const parsed = schema.safeParse(parseJson(line))
  if (!parsed.success) throw damagedObject(key, parsed.error)
  return parsed.data
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}
