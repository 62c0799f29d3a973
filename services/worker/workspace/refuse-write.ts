import { AppError } from '#domain/error.ts'
import type { RepoPath } from '#domain/repo-path.ts'
import { foldersOf } from './folders-of.ts'
import { WorkspaceFault } from './workspace-fault.ts'

/** What a repository has at a path; `skipped` is something that the snapshot passed over. */
export type PathKind = 'file' | 'folder' | 'link' | 'skipped'

/**
 * Throws when a patch with a file at `path` could not be applied to the repository; `kindAt` says what it has where,
 * what was written so far included. TOOL_007: git's own folder, and what a link leads to. WorkspaceFault: the place is
 * taken by something else.
 */
export function refuseWrite(path: RepoPath, kindAt: (path: RepoPath) => PathKind | undefined): void {
  if (path.split('/').some(isGitFolder)) throw new AppError('TOOL_007', `${path} is inside git's own folder`)
  for (const folder of foldersOf(path)) refuseInside(folder, kindAt(folder))
  refuseAt(path, kindAt(path))
}

function refuseInside(folder: string, kind: PathKind | undefined): void {
  if (kind === 'link') throw new AppError('TOOL_007', `${folder} is a link, and links are not followed`)
  if (kind === 'file' || kind === 'skipped') throw new WorkspaceFault('refused', `${folder} is no folder to write in`)
}

function refuseAt(path: RepoPath, kind: PathKind | undefined): void {
  if (kind === 'link') throw new AppError('TOOL_007', `${path} is a link, and links are not followed`)
  if (kind === 'folder') throw new WorkspaceFault('refused', `${path} is a folder`)
  if (kind === 'skipped') throw new WorkspaceFault('refused', `${path} exists, but is not part of this snapshot`)
}

/** Whether git takes the name for `.git`, as it does on every system for those of Windows and macOS. */
function isGitFolder(name: string): boolean {
  return /^(?:\.git|git~1)[. ]*(?::.*)?$/i.test(name.replaceAll(ignoredByMacOs, ''))
}

/** git's is_hfs_dotgit: code points a Mac's file system leaves out when it compares names. */
const ignoredByMacOs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
