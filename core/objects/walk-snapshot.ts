import type { ProjectId } from '#domain/ids.ts'
import { getHashedJson } from './json-object.ts'
import { mapBounded } from './map-bounded.ts'
import { objectKeys } from './object-keys.ts'
import type { ObjectStore } from './object-store.ts'
import { Snapshot, Tree } from './snapshot.ts'

const treeReads = 16

/** Told of what a snapshot refers to. `tree` answers false for one that it need not look into again. */
export type SnapshotVisitor = { tree(hash: string): boolean; blob(hash: string): void }

/** Visits every folder and file content of a snapshot, each folder's object read once. STORE_003 when one is missing. */
export async function walkSnapshot(
  objects: ObjectStore,
  { projectId, snapshotId }: { projectId: ProjectId; snapshotId: string },
  visitor: SnapshotVisitor,
): Promise<void> {
  const snapshotKey = objectKeys.snapshot(projectId, snapshotId)
  const { root } = await getHashedJson(objects, snapshotKey, snapshotId, Snapshot)
  let folders = visitor.tree(root) ? [root] : []
  while (folders.length > 0) {
    const trees = await mapBounded(folders, treeReads, (hash) =>
      getHashedJson(objects, objectKeys.tree(projectId, hash), hash, Tree),
    )
    folders = []
    for (const entry of trees.flatMap(({ entries }) => entries)) {
      if (entry.type === 'file') visitor.blob(entry.hash)
      else if (entry.type === 'folder' && visitor.tree(entry.hash)) folders.push(entry.hash)
    }
  }
}
