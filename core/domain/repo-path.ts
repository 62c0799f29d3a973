import { z } from 'zod'
import { AppError, type ErrorCode } from '#domain/error.ts'

const maxPathBytes = 1024

/** A path inside a repository: relative, `/`-separated and normalised; it never leads out of the repository. */
export const RepoPath = z.string().refine((path) => faultOfPath(path) === undefined, 'not a path inside the repository')
export type RepoPath = z.infer<typeof RepoPath>

/** Normalises a path (drops `./` and empty segments). Throws an AppError with `code` that names the fault. */
export function parseRepoPath(raw: string, code: ErrorCode): RepoPath {
  const normal = raw
    .split('/')
    .filter((segment) => segment !== '.' && segment !== '')
    .join('/')
  const fault = raw.startsWith('/') ? 'is absolute' : faultOfPath(normal)
  if (fault !== undefined) throw new AppError(code, `path ${JSON.stringify(raw.slice(0, 200))} ${fault}`)
  return normal
}

/** The folder a path lies in; '' at the top. */
export function folderOf(path: RepoPath): RepoPath {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** The folder and those around it, nearest first, the top one ('') last. */
export function foldersUp(folder: string): string[] {
  return folder === '' ? [''] : [folder, ...foldersUp(folderOf(folder))]
}

/**
 * Whether git treats the name as `.git`: on every system it also refuses the names that Windows and macOS read so. Windows gives the
 * second such folder the short name `git~2`.
 */
export function isGitFolder(name: string): boolean {
  return /^(?:\.git|git~\d+)[. ]*(?::.*)?$/i.test(withoutIgnored(name))
}

/** As in git's is_hfs_dotgit: without the code points that a Mac's file system ignores in names. */
export function withoutIgnored(name: string): string {
  return name.replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
}

/** Sorts by path, in the order of UTF-16 units. */
export function byPath(one: { path: string }, other: { path: string }): number {
  if (one.path === other.path) return 0
  return one.path < other.path ? -1 : 1
}

function faultOfPath(path: string): string | undefined {
  if (path === '') return 'is empty'
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'is absolute'
  if (path.includes('\0')) return 'contains a NUL byte'
  if (path.includes('\\')) return 'contains a backslash'
  if (!path.isWellFormed()) return 'has half of a character'
  if (Buffer.byteLength(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes`
  const segments = path.split('/')
  if (segments.includes('..')) return 'leads out of the repository'
  if (segments.some((segment) => segment === '' || segment === '.')) return 'is not in normal form'
  return undefined
}
