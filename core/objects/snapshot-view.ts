import type { SkippedFile } from '#domain/code-node.ts'
import type { ProjectId } from '#domain/ids.ts'
import { byPath } from '#domain/repo-path.ts'
import { openKept } from '#platform/kept.ts'
import { getHashedJson } from './json-object.ts'
import { mapBounded } from './map-bounded.ts'
import { objectKeys } from './object-keys.ts'
import type { ObjectStore } from './object-store.ts'
import { Snapshot, Tree } from './snapshot.ts'

const treeReads = 32
/** A view of 100,000 files is about 30 MB. */
const maxViews = 8

export type SnapshotFile = { path: string; hash: string; size: number; executable: boolean }
export type SnapshotLink = { path: string; target: string }

/**
 * All files of a snapshot at once, by path. `files` and `links` are sorted by path (UTF-16 units) and not to be
 * changed.
 */
export type SnapshotView = {
  id: string
  bytes: number
  files: readonly SnapshotFile[]
  links: readonly SnapshotLink[]
  skipped: readonly SkippedFile[]
  find(path: string): SnapshotFile | undefined
}

/** Reads a snapshot and its folders. STORE_003 when any of them is missing or damaged. */
export async function readSnapshot(objects: ObjectStore, project: ProjectId, id: string): Promise<SnapshotView> {
  const snapshot = await getHashedJson(objects, objectKeys.snapshot(project, id), id, Snapshot)
  const files: SnapshotFile[] = []
  const links: SnapshotLink[] = []
  let folders = [{ path: '', hash: snapshot.root }]
  while (folders.length > 0) {
    const trees = await mapBounded(folders, treeReads, async ({ path, hash }) => ({
      path,
      tree: await getHashedJson(objects, objectKeys.tree(project, hash), hash, Tree),
    }))
    folders = trees.flatMap(({ path, tree }) => spread(path, tree, { files, links }))
  }
  files.sort(byPath)
  links.sort(byPath)
  const byName = new Map(files.map((file) => [file.path, file]))
  return {
    id,
    bytes: snapshot.bytes,
    files,
    links,
    skipped: snapshot.skipped,
    find: (path) => byName.get(path),
  }
}

/** Like `readSnapshot`, with the last few views kept: snapshots never change, so one object may serve all readers. */
export function openSnapshotReader(objects: ObjectStore): (project: ProjectId, id: string) => Promise<SnapshotView> {
  const kept = openKept<SnapshotView>({ max: maxViews })
  return (project, id) => kept(objectKeys.snapshot(project, id), () => readSnapshot(objects, project, id))
}

/** Adds the tree's files and links under their full paths and answers its folders. */
function spread(
  parent: string,
  tree: Tree,
  into: { files: SnapshotFile[]; links: SnapshotLink[] },
): { path: string; hash: string }[] {
  const folders: { path: string; hash: string }[] = []
  for (const entry of tree.entries) {
    const path = parent === '' ? entry.name : `${parent}/${entry.name}`
    if (entry.type === 'folder') folders.push({ path, hash: entry.hash })
    else if (entry.type === 'link') into.links.push({ path, target: entry.target })
    else into.files.push({ path, hash: entry.hash, size: entry.size, executable: entry.executable })
  }
  return folders
}
