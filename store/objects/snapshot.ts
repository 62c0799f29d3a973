import { z } from 'zod'
import { SkippedFile } from '#domain/code-node.ts'
import { type ProjectId, sha256 } from '#domain/ids.ts'
import { byPath } from '#domain/repo-path.ts'
import { getOrMake, openCachedAnswers } from '#platform/cached-answers.ts'
import { mapBounded } from '#platform/map-bounded.ts'
import { objectKeys } from './object-keys.ts'
import { type ObjectStore, projectRecords } from './object-store.ts'

const TreeEntry = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('file'),
    name: z.string(),
    hash: z.string(),
    size: z.int().min(0),
    executable: z.boolean(),
  }),
  z.strictObject({ type: z.literal('link'), name: z.string(), target: z.string() }),
  z.strictObject({ type: z.literal('folder'), name: z.string(), hash: z.string() }),
])
type TreeEntry = z.infer<typeof TreeEntry>

/** One folder of a snapshot, stored under the hash of its JSON. Entries are sorted by name (UTF-16 units). */
const Tree = z.strictObject({ v: z.literal(1), entries: z.array(TreeEntry) })
type Tree = z.infer<typeof Tree>

/** The id is the hash of this JSON: the same files and skipped files have the same id. `skipped` is sorted by path. */
export const Snapshot = z.strictObject({
  v: z.literal(1),
  root: z.string(),
  files: z.int().min(0),
  bytes: z.int().min(0),
  skipped: z.array(SkippedFile),
})
export type Snapshot = z.infer<typeof Snapshot>

const snapshots = projectRecords(objectKeys.snapshot, Snapshot)
export const getSnapshot = snapshots.get
const { get: getTree } = projectRecords(objectKeys.tree, Tree)

const treeReads = 32
/** A view of 100,000 files is about 30 MB. */
const maxViews = 8

export type SnapshotFile = { path: string; hash: string; size: number; executable: boolean }
export type SnapshotLink = { path: string; target: string }

/** Has all files of a snapshot by path. `files` and `links` are sorted by path (UTF-16 units) and not to be changed. */
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
  const snapshot = await getSnapshot(objects, project, id)
  const files: SnapshotFile[] = []
  const links: SnapshotLink[] = []
  let folders = [{ path: '', hash: snapshot.root }]
  while (folders.length > 0) {
    const trees = await mapBounded(folders, treeReads, async ({ path, hash }) => ({
      path,
      tree: await getTree(objects, project, hash),
    }))
    folders = trees.flatMap(({ path, tree }) => spread(path, tree, { files, links }))
  }
  files.sort(byPath)
  links.sort(byPath)
  const byName = new Map(files.map((file) => [file.path, file]))
  return { id, bytes: snapshot.bytes, files, links, skipped: snapshot.skipped, find: (path) => byName.get(path) }
}

/** Reads as `readSnapshot` does, but caches the last few views: snapshots never change, so all readers may share one. */
export function openSnapshotReader(objects: ObjectStore): (project: ProjectId, id: string) => Promise<SnapshotView> {
  const cache = openCachedAnswers<SnapshotView>({ max: maxViews })
  return (project, id) => cache.get(objectKeys.snapshot(project, id), () => readSnapshot(objects, project, id))
}

function spread(parent: string, tree: Tree, into: { files: SnapshotFile[]; links: SnapshotLink[] }) {
  const folders: { path: string; hash: string }[] = []
  for (const entry of tree.entries) {
    const path = parent === '' ? entry.name : `${parent}/${entry.name}`
    if (entry.type === 'folder') folders.push({ path, hash: entry.hash })
    else if (entry.type === 'link') into.links.push({ path, target: entry.target })
    else into.files.push({ path, hash: entry.hash, size: entry.size, executable: entry.executable })
  }
  return folders
}

const backgroundTreeReads = 16

/** Reads each folder's object once. `tree` returns false for one that need not be read. STORE_003: one is missing. */
export async function walkSnapshot(
  objects: ObjectStore,
  { projectId, snapshotId }: { projectId: ProjectId; snapshotId: string },
  visitor: { tree(hash: string): boolean; blob(hash: string): void },
): Promise<void> {
  const { root } = await getSnapshot(objects, projectId, snapshotId)
  let folders = visitor.tree(root) ? [root] : []
  while (folders.length > 0) {
    const trees = await mapBounded(folders, backgroundTreeReads, (hash) => getTree(objects, projectId, hash))
    folders = []
    for (const entry of trees.flatMap(({ entries }) => entries)) {
      if (entry.type === 'file') visitor.blob(entry.hash)
      else if (entry.type === 'folder' && visitor.tree(entry.hash)) folders.push(entry.hash)
    }
  }
}

const treeWrites = 32

type SnapshotContents = Pick<SnapshotView, 'files' | 'links' | 'skipped'>

/** The blobs must be stored already. May be done twice. Aborted, it stores no snapshot. */
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
    await objects.put(objectKeys.tree(project, hash), json, { contentType: 'application/json' })
  })
  signal?.throwIfAborted()
  const bytes = contents.files.reduce((sum, file) => sum + file.size, 0)
  const skipped = contents.skipped.map(({ path, reason }) => ({ path, reason })).toSorted(byPath)
  const snapshot: Snapshot = { v: 1, root, files: contents.files.length, bytes, skipped }
  const snapshotId = await snapshots.put(objects, project, snapshot)
  return { snapshotId, bytes }
}

type Folder = { entries: TreeEntry[]; folders: Map<string, Folder> }

function foldersOf({ files, links }: SnapshotContents): Folder {
  const emptyFolder = (): Folder => ({ entries: [], folders: new Map() })
  const root = emptyFolder()
  const folderOf = (path: string) => {
    const segments = path.split('/')
    const name = segments.pop() ?? ''
    let folder = root
    for (const segment of segments) folder = getOrMake(folder.folders, segment, emptyFolder)
    return { name, entries: folder.entries }
  }
  for (const { path, hash, size, executable } of files) {
    const { name, entries } = folderOf(path)
    entries.push({ type: 'file', name, hash, size, executable })
  }
  for (const { path, target } of links) {
    const { name, entries } = folderOf(path)
    entries.push({ type: 'link', name, target })
  }
  return root
}

function hashFolder(folder: Folder, trees: Map<string, string>): string {
  const below: TreeEntry[] = Array.from(folder.folders, ([name, inner]) => ({
    type: 'folder',
    name,
    hash: hashFolder(inner, trees),
  }))
  const entries = [...folder.entries, ...below].toSorted((left, right) => (left.name < right.name ? -1 : 1))
  const tree: Tree = { v: 1, entries }
  const json = JSON.stringify(tree)
  const hash = sha256(json)
  trees.set(hash, json)
  return hash
}
