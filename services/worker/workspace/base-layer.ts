import type { BlobStore } from '#objects/blob-store.ts'
import type { SnapshotView } from '#objects/snapshot-view.ts'
import type { BaseLayer } from './open-workspace.ts'

const folders = new WeakMap<SnapshotView, Map<string, string[]>>()

/** A snapshot as the immutable layer of a workspace. Folder listings are built once per snapshot. */
export function baseLayerOf(snapshot: SnapshotView, blobs: Pick<BlobStore, 'get'>, projectId: string): BaseLayer {
  const listings = folders.get(snapshot) ?? listFolders(snapshot)
  folders.set(snapshot, listings)
  return {
    find: (path) => snapshot.find(path),
    list: (folder) => listings.get(folder) ?? [],
    read: (hash) => blobs.get(projectId, hash),
  }
}

function listFolders(snapshot: SnapshotView): Map<string, string[]> {
  const names = new Map<string, Set<string>>()
  const add = (folder: string, name: string) => {
    const known = names.get(folder) ?? new Set()
    names.set(folder, known.add(name))
  }
  for (const { path } of snapshot.files) {
    const segments = path.split('/')
    for (let depth = 0; depth < segments.length; depth++) {
      const isFile = depth === segments.length - 1
      add(segments.slice(0, depth).join('/'), `${segments[depth]}${isFile ? '' : '/'}`)
    }
  }
  return new Map([...names].map(([folder, below]) => [folder, [...below].toSorted()]))
}
