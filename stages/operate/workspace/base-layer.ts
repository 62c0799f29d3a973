import type { BlobStore } from '#store/objects/blob-store.ts'
import type { RepoPath } from '#domain/repo-path.ts'

/** The immutable layer under a workspace: the files of a snapshot by path, and their bytes by hash. */
export type BaseLayer = {
  find(path: RepoPath): { hash: string; executable?: boolean } | undefined
  /** Says what is there, readable or not; undefined for nothing. */
  kindAt(path: RepoPath): PathKind | undefined
  /** Names directly inside a folder ('' is the root), folders with a trailing slash, sorted. */
  list(folder: string): readonly string[]
  read(hash: string): Promise<Uint8Array>
}

/** Says what a repository has at a path; `skipped` is something that is not part of the snapshot. */
export type PathKind = 'file' | 'folder' | 'link' | 'skipped'

/** The part of a snapshot that a base layer needs. `hash` is the key of the content. */
export type BaseFiles = {
  files: readonly { path: string }[]
  links: readonly { path: string }[]
  skipped: readonly { path: string }[]
  find(path: string): { hash: string; executable?: boolean } | undefined
}

type Names = {
  listings: ReadonlyMap<string, string[]>
  /** Holds what is in no listing: links, skipped files, and the folders that they are in. */
  unlisted: ReadonlyMap<string, PathKind>
}

const namesOf = new WeakMap<BaseFiles, Names>()

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

/** The folders that a path is in, the innermost first, without the root. */
export function* foldersOf(path: string): Generator<string> {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) yield path.slice(0, at)
}
