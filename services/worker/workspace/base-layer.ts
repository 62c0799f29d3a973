import type { BlobStore } from '#objects/blob-store.ts'
import { type BaseLayer, foldersOf, type PathKind } from './open-workspace.ts'

/** The part of a snapshot that a base layer needs. `hash` is the key of the content. */
export type BaseFiles = {
  files: readonly { path: string }[]
  links: readonly { path: string }[]
  skipped: readonly { path: string }[]
  find(path: string): { hash: string } | undefined
}

type Names = {
  listings: ReadonlyMap<string, string[]>
  /** What is in no listing: links, skipped files, and the folders that they are in. */
  unlisted: ReadonlyMap<string, PathKind>
}

const namesOf = new WeakMap<BaseFiles, Names>()

/** A snapshot as the immutable layer of a workspace. Its names are sorted once per snapshot. */
export function baseLayerOf(snapshot: BaseFiles, blobs: Pick<BlobStore, 'get'>, projectId: string): BaseLayer {
  const names = namesOf.get(snapshot) ?? readNames(snapshot)
  namesOf.set(snapshot, names)
  const { listings, unlisted } = names
  return {
    find: (path) => snapshot.find(path),
    kindAt(path) {
      if (snapshot.find(path) !== undefined) return 'file'
      return listings.has(path) ? 'folder' : unlisted.get(path)
    },
    list: (folder) => listings.get(folder) ?? [],
    read: (hash) => blobs.get(projectId, hash),
  }
}

function readNames({ files, links, skipped }: BaseFiles): Names {
  const unlisted = new Map<string, PathKind>()
  for (const { path } of [...links, ...skipped]) for (const folder of foldersOf(path)) unlisted.set(folder, 'folder')
  for (const { path } of skipped) unlisted.set(path, 'skipped')
  for (const { path } of links) unlisted.set(path, 'link')
  return { listings: listFolders(files), unlisted }
}

function listFolders(files: BaseFiles['files']): Map<string, string[]> {
  const names = new Map<string, Set<string>>()
  for (const { path } of files) {
    const segments = path.split('/')
    for (const [depth, segment] of segments.entries()) {
      const folder = segments.slice(0, depth).join('/')
      const isFile = depth === segments.length - 1
      names.set(folder, (names.get(folder) ?? new Set()).add(isFile ? segment : `${segment}/`))
    }
  }
  return new Map([...names].map(([folder, below]) => [folder, [...below].toSorted()]))
}
