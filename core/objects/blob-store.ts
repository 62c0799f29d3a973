import { AppError } from '#domain/error.ts'
import { type ProjectId, sha256 } from '#domain/ids.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { mapBounded } from './map-bounded.ts'
import { objectKeys } from './object-keys.ts'
import type { ObjectStore } from './object-store.ts'

const concurrency = 32
/** Hashes known to be stored: about 20 MB at most. */
const maxTrusted = 100_000
/**
 * For how long a blob that this process has put counts as stored. The collector deletes unreferenced objects that are a
 * day old, and a put that is left out does not make an object young again.
 */
const trustedMs = 3_600_000

/** File contents by their SHA-256. */
export type BlobStore = {
  /** Stores `bytes` and returns their hash. Sends no request when this process has stored them within the last hour. */
  put(project: ProjectId, bytes: Uint8Array): Promise<string>
  putMany(project: ProjectId, blobs: readonly Uint8Array[]): Promise<string[]>
  /** The content, checked against its hash (STORE_003). Other callers share it: do not write into it. */
  get(project: ProjectId, hash: string): Promise<Uint8Array>
  /** In the order of `hashes`. */
  getMany(project: ProjectId, hashes: readonly string[]): Promise<Uint8Array[]>
}

/** Opens a blob store that caches up to `maxCacheBytes` of what it has stored and read in memory. */
export function openBlobStore(
  objects: Pick<ObjectStore, 'get' | 'put'>,
  options: { maxCacheBytes: number; trustedMs?: number },
): BlobStore {
  const cache = openCachedAnswers<Uint8Array>({ maxSize: options.maxCacheBytes, sizeOf: ({ length }) => length })
  const putAt = new Map<string, number>() // performance.now()
  const trusted = options.trustedMs ?? trustedMs

  const put = async (project: ProjectId, bytes: Uint8Array): Promise<string> => {
    const hash = sha256(bytes)
    const key = objectKeys.blob(project, hash)
    const startedAt = performance.now()
    if (startedAt - (putAt.get(key) ?? -Infinity) < trusted) return hash
    await objects.put(key, bytes)
    if (putAt.size >= maxTrusted) putAt.clear()
    putAt.set(key, startedAt)
    cache.set(key, bytes)
    return hash
  }
  const get = (project: ProjectId, hash: string): Promise<Uint8Array> => {
    const key = objectKeys.blob(project, hash)
    return cache.get(key, async () => {
      const bytes = await objects.get(key)
      if (sha256(bytes) === hash) return bytes
      throw new AppError('STORE_003', `object ${key} does not have the content it is named by`)
    })
  }
  return {
    put,
    get,
    putMany: (project, blobs) => mapBounded(blobs, concurrency, (bytes) => put(project, bytes)),
    getMany: (project, hashes) => mapBounded(hashes, concurrency, (hash) => get(project, hash)),
  }
}
