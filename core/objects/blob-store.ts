import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/hash.ts'
import type { ProjectId } from '#domain/ids.ts'
import { openByteCache } from './byte-cache.ts'
import { mapBounded } from './map-bounded.ts'
import { objectKeys } from './object-keys.ts'
import type { ObjectStore } from './object-store.ts'

const concurrency = 32
/** Hashes remembered as stored: about 20 MB at most. */
const maxKnown = 100_000
/**
 * For how long what this process has put counts as stored. The collection of unreferenced objects goes by an object's
 * age: a put that is left out does not make it young again, and after a day without a reference it may be gone.
 */
const trustedMs = 3_600_000

/** File contents by their SHA-256. */
export type BlobStore = {
  /** Stores `bytes` and answers their hash; no request when this process has stored them within the last hour. */
  put(project: ProjectId, bytes: Uint8Array): Promise<string>
  putMany(project: ProjectId, blobs: readonly Uint8Array[]): Promise<string[]>
  /** The content, checked against its hash (STORE_003). It is shared with other callers: do not write into it. */
  get(project: ProjectId, hash: string): Promise<Uint8Array>
  /** In the order of `hashes`. */
  getMany(project: ProjectId, hashes: readonly string[]): Promise<Uint8Array[]>
}

/** A blob store that keeps up to `maxCacheBytes` of what it has stored and read in memory. */
export function openBlobStore(
  objects: Pick<ObjectStore, 'get' | 'put'>,
  options: { maxCacheBytes: number; trustedMs?: number },
): BlobStore {
  const cache = openByteCache(options.maxCacheBytes)
  const known = new Map<string, number>() // when it was put (performance.now())
  const trusted = options.trustedMs ?? trustedMs
  const underway = new Map<string, Promise<Uint8Array>>()

  const remember = (key: string, putAt: number) => {
    if (known.size >= maxKnown) known.clear()
    known.set(key, putAt)
  }
  const fetch = async (key: string, hash: string): Promise<Uint8Array> => {
    const bytes = await objects.get(key)
    if (sha256(bytes) !== hash)
      throw new AppError('STORE_003', `object ${key} does not have the content it is named by`)
    cache.set(key, bytes)
    return bytes
  }
  const put = async (project: ProjectId, bytes: Uint8Array): Promise<string> => {
    const hash = sha256(bytes)
    const key = objectKeys.blob(project, hash)
    const startedAt = performance.now()
    if (startedAt - (known.get(key) ?? -Infinity) < trusted) return hash
    await objects.put(key, bytes)
    remember(key, startedAt)
    cache.set(key, bytes)
    return hash
  }
  const get = async (project: ProjectId, hash: string): Promise<Uint8Array> => {
    const key = objectKeys.blob(project, hash)
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const running = underway.get(key)
    if (running !== undefined) return running
    const request = fetch(key, hash).finally(() => underway.delete(key))
    underway.set(key, request)
    return request
  }
  return {
    put,
    get,
    putMany: (project, blobs) => mapBounded(blobs, concurrency, (bytes) => put(project, bytes)),
    getMany: (project, hashes) => mapBounded(hashes, concurrency, (hash) => get(project, hash)),
  }
}
