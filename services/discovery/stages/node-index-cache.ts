import { AppError } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import type { ProjectId } from '#domain/ids.ts'
import { objectKeys } from '#objects/object-keys.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { type IndexCache, indexName, type SourceBlob } from '../discover/index-blobs.ts'
import { NodeIndex } from '../discover/node-index.ts'

/** Node indexes in the object store, so that a blob is parsed once per query pack, in whatever run it comes. */
export function nodeIndexCache(objects: Pick<ObjectStore, 'get' | 'put'>, projectId: ProjectId): IndexCache {
  const keyOf = (blob: SourceBlob) => objectKeys.nodeIndex(projectId, `${indexName(blob)}.json`)
  return {
    async get(blob) {
      try {
        return NodeIndex.safeParse(parseJson(Buffer.from(await objects.get(keyOf(blob))).toString())).data
      } catch (error) {
        if (error instanceof AppError && error.code === 'STORE_003') return undefined
        throw error
      }
    },
    async put(blob, index) {
      await objects.put(keyOf(blob), JSON.stringify(index), { contentType: 'application/json' })
    },
  }
}
