import type { ProjectId } from '#domain/ids.ts'
import { mapBounded } from '#objects/map-bounded.ts'
import { objectKeys } from '#objects/object-keys.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { readSnapshot, type SnapshotView } from '#objects/snapshot-view.ts'
import type { Findings } from './findings.ts'

const lookups = 32

/**
 * Reads the snapshot and its folders, each checked against the hash it is named by, and sees that every file's blob is
 * there; the contents of those that were changed are read with the change sets. Undefined when it cannot be read.
 */
export async function verifySnapshot(
  { projectId, snapshotId }: { projectId: ProjectId; snapshotId: string },
  objects: ObjectStore,
  findings: Findings,
): Promise<SnapshotView | undefined> {
  const view = await findings.read(`snapshot ${snapshotId}`, readSnapshot(objects, projectId, snapshotId))
  if (view === undefined) return undefined
  const pathOf = new Map(view.files.map(({ hash, path }) => [hash, path]))
  await mapBounded([...pathOf], lookups, async ([hash, path]) => {
    const key = objectKeys.blob(projectId, hash)
    if (!(await objects.exists(key))) findings.blame(`the blob of ${path} in the snapshot: object ${key} is missing`)
  })
  return view
}
