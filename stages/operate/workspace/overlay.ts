import type { RepoPath } from '#domain/repo-path.ts'
import { type BaseLayer, foldersOf, type PathKind } from './base-layer.ts'

/** A written file as it is kept for a later attempt. `executable` only where it is not what the base has there. */
export type WrittenFile = { path: RepoPath; text: string; executable?: boolean | undefined }

export type Written = { written: WrittenFile[]; deleted?: RepoPath[] | undefined }

type OverlayFile = { text: string; executable: boolean }
const whiteout = Symbol('whiteout')
type Entry = OverlayFile | typeof whiteout

export type Overlay = ReturnType<typeof openOverlay>

/** Holds what was written and deleted over `base`, by path. Checks nothing: `refuseWrite` does. */
export function openOverlay(base: Pick<BaseLayer, 'find' | 'kindAt' | 'list'>) {
  const entries = openEntries()
  const bitOfBase = (path: RepoPath) => base.find(path)?.executable ?? false
  const isExecutable = (path: RepoPath) =>
    entries.has(path) ? entries.fileAt(path)?.executable === true : bitOfBase(path)
  return {
    fileAt: entries.fileAt,
    isExecutable,
    isDeleted: (path: RepoPath) => entries.has(path) && entries.fileAt(path) === undefined,
    /** A folder of the base stays one when all its files are deleted: it may hold what is not part of the snapshot. */
    kindAt(path: RepoPath): PathKind | undefined {
      if (entries.fileAt(path) !== undefined) return 'file'
      if (entries.isFolder(path)) return 'folder'
      return entries.has(path) ? undefined : base.kindAt(path)
    },
    /** Names in a folder, as `BaseLayer.list` gives them; a folder in which everything is deleted is none of them. */
    list: (folder: string) => mergedListing(base, entries, folder),
    write: (path: RepoPath, text: string, executable = isExecutable(path)) => entries.put(path, { text, executable }),
    delete: (path: RepoPath) => entries.put(path, base.find(path) === undefined ? undefined : whiteout),
    paths: entries.paths,
    written(): Written {
      const written: WrittenFile[] = []
      const deleted: RepoPath[] = []
      for (const path of entries.paths()) {
        const file = entries.fileAt(path)
        const isOther = file?.executable !== bitOfBase(path)
        if (file === undefined) deleted.push(path)
        else written.push({ path, text: file.text, ...(isOther ? { executable: file.executable } : {}) })
      }
      return { written, ...(deleted.length === 0 ? {} : { deleted }) }
    },
    /** Returns a function that takes back everything since. */
    mark: entries.mark,
  }
}

type Entries = ReturnType<typeof openEntries>

function openEntries() {
  let entries = new Map<RepoPath, Entry>()
  let folders = countFolders([])

  const fileAt = (path: RepoPath) => fileIn(entries.get(path))
  return {
    fileAt,
    has: (path: RepoPath) => entries.has(path),
    isFolder: (path: RepoPath) => folders.has(path),
    put(path: RepoPath, entry: Entry | undefined) {
      if (fileAt(path) !== undefined) folders.add(path, -1)
      if (entry === undefined) entries.delete(path)
      else entries.set(path, entry)
      if (fileAt(path) !== undefined) folders.add(path, 1)
    },
    paths: () => [...entries.keys()].toSorted(),
    files: () => entries.keys().filter((path) => fileAt(path) !== undefined),
    hasWhiteouts: () => entries.values().some((entry) => entry === whiteout),
    mark() {
      const before = new Map(entries)
      return () => {
        entries = before
        folders = countFolders([...before].flatMap(([path, entry]) => (entry === whiteout ? [] : path)))
      }
    },
  }
}

function fileIn(entry: Entry | undefined): OverlayFile | undefined {
  return entry === whiteout ? undefined : entry
}

function mergedListing(base: Pick<BaseLayer, 'list'>, entries: Entries, folder: string): string[] {
  const isGone = (path: string): boolean =>
    path.endsWith('/') ? !holdsFile(path.slice(0, -1)) : entries.has(path) && entries.fileAt(path) === undefined
  const holdsFile = (at: string): boolean => base.list(at).some((name) => !isGone(`${at}/${name}`))
  const prefix = folder === '' ? '' : `${folder}/`
  const below = base.list(folder)
  const names = new Set(entries.hasWhiteouts() ? below.filter((name) => !isGone(`${prefix}${name}`)) : below)
  for (const path of entries.files()) {
    if (!path.startsWith(prefix)) continue
    const [name = '', ...deeper] = path.slice(prefix.length).split('/')
    names.add(deeper.length === 0 ? name : `${name}/`)
  }
  return [...names].toSorted()
}

function countFolders(files: readonly RepoPath[]) {
  const counts = new Map<string, number>()
  const add = (path: RepoPath, one: 1 | -1) => {
    for (const folder of foldersOf(path)) counts.set(folder, (counts.get(folder) ?? 0) + one)
  }
  for (const path of files) add(path, 1)
  return { add, has: (folder: string) => (counts.get(folder) ?? 0) > 0 }
}
