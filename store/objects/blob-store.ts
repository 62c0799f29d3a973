import { AppError } from '#domain/error.ts'
import { type ProjectId, sha256 } from '#domain/ids.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { objectKeys } from './object-keys.ts'
import type { ObjectStore, PutPermit } from './object-store.ts'

const concurrency = 32
/** Bounds the hashes known to be stored: about 20 MB at most. */
const maxTrusted = 100_000
/**
 * A put counts for so long, in its epoch. The collector deletes unreferenced objects that are a day old, and younger ones only
 * in another epoch.
 */
const usualTrustedMs = 3_600_000

export type BlobStore = {
  /** Stores `bytes` and returns their hash. Sends no request when this process has stored them within the last hour. */
  put(project: ProjectId, bytes: Uint8Array): Promise<string>
  putMany(project: ProjectId, blobs: readonly Uint8Array[]): Promise<string[]>
  /** Returns the content, checked against its hash (STORE_003). Other callers share it: do not write into it. */
  get(project: ProjectId, hash: string): Promise<Uint8Array>
  getMany(project: ProjectId, hashes: readonly string[]): Promise<Uint8Array[]>
}

const always: PutPermit = (put) => put('')

/** Caches up to `maxCacheBytes` of what it has stored and read. Without a `permit` no run may be deleted while it is open. */
export function openBlobStore(
  objects: Pick<ObjectStore, 'get' | 'put'>,
  options: { maxCacheBytes: number; trustedMs?: number; permit?: PutPermit },
): BlobStore {
  const cache = openCachedAnswers<Uint8Array>({ maxSize: options.maxCacheBytes, sizeOf: ({ length }) => length })
  const stored = new Map<string, { at: number; epoch: string }>() // performance.now()
  const { permit = always, trustedMs: trusted = usualTrustedMs } = options

  const put = async (project: ProjectId, bytes: Uint8Array): Promise<string> => {
    const hash = sha256(bytes)
    const key = objectKeys.blob(project, hash)
    const at = performance.now()
    const former = stored.get(key)
    let latest = former
    await permit(async (epoch) => {
      latest = former
      if (former?.epoch === epoch && at - former.at < trusted) return
      await objects.put(key, bytes)
      latest = { at, epoch }
    })
    if (latest === undefined || latest === former) return hash
    if (stored.size >= maxTrusted) stored.clear()
    stored.set(key, latest)
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
