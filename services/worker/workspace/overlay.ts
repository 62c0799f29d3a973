import type { RepoPath } from '#domain/repo-path.ts'
import { foldersOf } from './folders-of.ts'

export type WrittenFile = { path: RepoPath; text: string }

/** What an attempt has written over the base. */
export type Overlay = {
  textOf(path: RepoPath): string | undefined
  /** What was written there; undefined: nothing. */
  kindAt(path: RepoPath): 'file' | 'folder' | undefined
  write(path: RepoPath, text: string): void
  paths(): Iterable<RepoPath>
  /** Sorted by path. */
  files(): WrittenFile[]
}

export function openOverlay(): Overlay {
  const texts = new Map<RepoPath, string>()
  const folders = new Set<string>()
  return {
    textOf: (path) => texts.get(path),
    kindAt(path) {
      if (texts.has(path)) return 'file'
      return folders.has(path) ? 'folder' : undefined
    },
    write(path, text) {
      texts.set(path, text)
      for (const folder of foldersOf(path)) folders.add(folder)
    },
    paths: () => texts.keys(),
    files: () =>
      Array.from(texts, ([path, text]) => ({ path, text })).toSorted((one, other) => (one.path < other.path ? -1 : 1)),
  }
}
