import type { BlobStore } from '#objects/blob-store.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { getAttemptRecord, getComposition } from '#objects/stored-records.ts'
import type { ChangeRecords } from './list-changes.ts'

/** What runs refer to, read from the object store. */
export function openChangeRecords(objects: ObjectStore, blobs: BlobStore): ChangeRecords {
  return {
    readBlob: (projectId, hash) => blobs.get(projectId, hash),
    readAttempt: (projectId, recordHash) => getAttemptRecord(objects, projectId, recordHash),
    async readComposition({ projectId, runId, compositionKey: hash }) {
      return hash === null ? null : getComposition(objects, projectId, { runId, hash })
    },
  }
}
