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

export function openReadLog(): ReadLog {
  const contents = new Map<RepoPath, string>()
  const listings = new Map<string, string>()
  const absences = new Set<RepoPath>()
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
