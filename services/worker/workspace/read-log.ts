import { sha256 } from '#domain/hash.ts'
import type { RepoPath } from '#domain/repo-path.ts'
import type { ReadSet } from '#objects/attempt-record.ts'

/** What an attempt looked at, for its record: its result may be reused while all of it still holds. */
export type ReadLog = {
  /** A file's content, by hash; undefined: the file was found absent. */
  content(path: RepoPath, hash: string | undefined): void
  listing(folder: string, names: readonly string[]): void
  readSet(): ReadSet
}

/** Begins with what was read before, if that is given. */
export function openReadLog(start: ReadSet = { contents: {}, listings: {}, absences: [] }): ReadLog {
  const contents = new Map<string, string>(Object.entries(start.contents))
  const listings = new Map(Object.entries(start.listings))
  const absences = new Set<string>(start.absences)
  return {
    content(path, hash) {
      if (hash === undefined) absences.add(path)
      else contents.set(path, hash)
    },
    listing: (folder, names) => void listings.set(folder, sha256(names.join('\n'))),
    readSet: () => ({
      contents: Object.fromEntries(contents),
      listings: Object.fromEntries(listings),
      absences: [...absences].toSorted(),
    }),
  }
}
