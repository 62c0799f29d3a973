import type { SkippedFile } from '#domain/code-node.ts'
import { sha256 } from '#domain/hash.ts'
import type { ProjectId } from '#domain/ids.ts'
import { mapBounded } from './map-bounded.ts'
import { objectKeys } from './object-keys.ts'
import type { ObjectStore } from './object-store.ts'
import type { Snapshot, Tree, TreeEntry } from './snapshot.ts'
import type { SnapshotFile, SnapshotLink } from './snapshot-view.ts'

const treeWrites = 32

export type SnapshotContents = {
  files: readonly SnapshotFile[]
  links: readonly SnapshotLink[]
  skipped: readonly SkippedFile[]
}

/**
 * Stores the folders over blobs that are stored already, then the snapshot that names them, and answers its id. Paths
 * are in normal form, and no file's path is another's folder. Doing it twice is harmless. Aborted, it stores no more
 * folders, and no snapshot.
 */
export async function writeSnapshot(
  objects: ObjectStore,
  project: ProjectId,
  contents: SnapshotContents,
  signal?: AbortSignal,
): Promise<{ snapshotId: string; bytes: number }> {
  const trees = new Map<string, string>()
  const root = hashFolder(foldersOf(contents), trees)
  await mapBounded([...trees], treeWrites, async ([hash, json]) => {
    signal?.throwIfAborted()
    await putJsonText(objects, objectKeys.tree(project, hash), json)
  })
  signal?.throwIfAborted()
  const bytes = contents.files.reduce((sum, file) => sum + file.size, 0)
  const skipped = contents.skipped.map(({ path, reason }) => ({ path, reason })).toSorted(byKey(({ path }) => path))
  const snapshot: Snapshot = { v: 1, root, files: contents.files.length, bytes, skipped }
  const json = JSON.stringify(snapshot)
  const snapshotId = sha256(json)
  await putJsonText(objects, objectKeys.snapshot(project, snapshotId), json)
  return { snapshotId, bytes }
}

type Folder = { entries: TreeEntry[]; folders: Map<string, Folder> }

function foldersOf({ files, links }: SnapshotContents): Folder {
  const root: Folder = { entries: [], folders: new Map() }
  const place = (path: string) => {
    const segments = path.split('/')
    const name = segments.pop() ?? ''
    let folder = root
    for (const segment of segments) {
      const next: Folder = folder.folders.get(segment) ?? { entries: [], folders: new Map() }
      folder.folders.set(segment, next)
      folder = next
    }
    return { name, entries: folder.entries }
  }
  for (const { path, hash, size, executable } of files) {
    const { name, entries } = place(path)
    entries.push({ type: 'file', name, hash, size, executable })
  }
  for (const { path, target } of links) {
    const { name, entries } = place(path)
    entries.push({ type: 'link', name, target })
  }
  return root
}

/** Adds the folder's tree and those below it to `trees`, by hash, and answers the folder's hash. */
function hashFolder(folder: Folder, trees: Map<string, string>): string {
  const below: TreeEntry[] = Array.from(folder.folders, ([name, inner]) => ({
    type: 'folder',
    name,
    hash: hashFolder(inner, trees),
  }))
  const tree: Tree = { v: 1, entries: [...folder.entries, ...below].toSorted(byKey(({ name }) => name)) }
  const json = JSON.stringify(tree)
  const hash = sha256(json)
  trees.set(hash, json)
  return hash
}

async function putJsonText(objects: ObjectStore, key: string, json: string): Promise<void> {
  await objects.put(key, json, { contentType: 'application/json' })
}

function byKey<T>(keyOf: (item: T) => string): (one: T, other: T) => number {
  return (one, other) => (keyOf(one) < keyOf(other) ? -1 : keyOf(one) > keyOf(other) ? 1 : 0)
}
