import { hash } from 'node:crypto'
import type { RepoPath } from './repo-path.ts'

export type PlannedFile = {
  path: RepoPath
  executable: boolean
  /** The bit is not as it was before the first of the commits. */
  changesMode?: true
  /** Is null when the file is deleted. */
  content: Uint8Array | null
  /** Is the hash of the file before the first of the commits; null when it was not there. */
  baseHash: string | null
}

/** Holds what one agent has changed, as a commit on top of those before it. `changeSetIds` names what it is made of. */
export type PlannedCommit = { agent: string; changeSetIds: string[]; files: PlannedFile[] }

/** Holds whatever a commit has, by path: files, links (mode 120000) and submodules (160000), in git's octal modes. */
export type GitTree = ReadonlyMap<string, { mode: string; sha: string }>

/** The name that git gives the content of a file, in SHA-1. */
export function gitBlobId(bytes: Uint8Array): string {
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]), 'hex')
}
