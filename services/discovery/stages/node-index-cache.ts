import { AppError } from '#domain/error.ts'
import type { ProjectId } from '#domain/ids.ts'
import { objectKeys } from '#objects/object-keys.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import type { IndexCache } from '../discover/index-blobs.ts'

/** Node indexes in the object store, so that a blob is parsed once per query pack, in whatever run it comes. */
export function nodeIndexCache(objects: Pick<ObjectStore, 'get' | 'put'>, projectId: ProjectId): IndexCache {
  return {
    async get(key) {
      try {
        return JSON.parse(Buffer.from(await objects.get(objectKeys.nodeIndex(projectId, key))).toString())
      } catch (error) {
        if (error instanceof AppError && error.code === 'STORE_003') return undefined
        if (error instanceof SyntaxError) return undefined
        throw error
      }
    },
    async put(key, index) {
      await objects.put(objectKeys.nodeIndex(projectId, key), JSON.stringify(index), {
        contentType: 'application/json',
      })
    },
  }
}
