import { AppError } from '#domain/error.ts'
import type { BlobStore } from '#objects/blob-store.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { getPlanSummary } from '#objects/plan-summary.ts'
import { openEdgeLists } from '#objects/read-edge-list.ts'
import { openNodeLists } from '#objects/read-node-list.ts'
import { getAttemptRecord, getComposition, getSnapshot, getSuspendedAttempt } from '#objects/stored-records.ts'
import type { RunRouteDeps } from '../runs/run-routes.ts'
import type { TranscriptRecords } from '../transcript/stored-transcript.ts'
import type { ChangeRecords } from './list-changes.ts'

/** What runs refer to, read from the object store. */
export function openChangeRecords(
  objects: ObjectStore,
  blobs: BlobStore,
): ChangeRecords & TranscriptRecords & RunRouteDeps['records'] {
  return {
    nodes: openNodeLists(objects),
    edges: openEdgeLists(objects),
    readBlob: (projectId, hash) => blobs.get(projectId, hash),
    readAttempt: (projectId, recordHash) => getAttemptRecord(objects, projectId, recordHash),
    readSuspended: (projectId, recordHash) => getSuspendedAttempt(objects, projectId, recordHash),
    async readComposition({ projectId, runId, compositionKey: hash }) {
      return hash === null ? null : getComposition(objects, projectId, { runId, hash })
    },
    async readPlan({ projectId, runId, planKey: hash }) {
      if (hash === null) throw new AppError('RUN_004', `Run "${runId}" has no plan yet.`)
      return getPlanSummary(objects, { projectId, runId, hash })
    },
    async readSkipped({ projectId, snapshotId }) {
      return snapshotId === null ? [] : (await getSnapshot(objects, projectId, snapshotId)).skipped
    },
  }
}
