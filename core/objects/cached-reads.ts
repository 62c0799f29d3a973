import { AppError } from '#domain/error.ts'
import { openByteCache } from './byte-cache.ts'
import type { ObjectStore } from './object-store.ts'

/** Reads whole objects; undefined for one that is not there. */
export type CachedReads = (key: string) => Promise<Uint8Array | undefined>

/**
 * Keeps up to `maxCacheBytes` of what it has read, so that an object that is paged through is fetched once; those who
 * ask for one at the same time wait for the same request. For objects that never change under their key.
 */
export function openCachedReads(objects: Pick<ObjectStore, 'get'>, maxCacheBytes: number): CachedReads {
  const cache = openByteCache(maxCacheBytes)
  const underway = new Map<string, Promise<Uint8Array | undefined>>()
  const fetch = async (key: string): Promise<Uint8Array | undefined> => {
    const bytes = await getIfThere(objects, key)
    if (bytes !== undefined) cache.set(key, bytes)
    return bytes
  }
  const request = (key: string): Promise<Uint8Array | undefined> => {
    const started = fetch(key).finally(() => underway.delete(key))
    underway.set(key, started)
    return started
  }
  return async (key) => cache.get(key) ?? (await (underway.get(key) ?? request(key)))
}

async function getIfThere(objects: Pick<ObjectStore, 'get'>, key: string): Promise<Uint8Array | undefined> {
  try {
    return await objects.get(key)
  } catch (error) {
    if (error instanceof AppError && error.code === 'STORE_003') return undefined
    throw error
  }
}
