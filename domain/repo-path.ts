import { z } from 'zod'
import { AppError, type ErrorCode } from './error.ts'

const maxPathBytes = 1024
const utf8 = new TextEncoder()
const bytesOf = (text: string) => utf8.encode(text).length

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

/** The most bytes that file systems take for one name. */
export const maxNameBytes = 255
/** Matches control characters, and also what changes the direction of writing. */
export const hiddenSigns = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u

/**
 * Says why a file of this name is left out: some system would read the name as another path, cut it, or not show it. Undefined also for a
 * path that leads out of the repository, which is no odd name but an attack.
 */
export function oddName(path: string): string | undefined {
  if (path.includes('\\')) return 'its name has a backslash'
  if (hiddenSigns.test(path.replaceAll('\0', ''))) return 'its name has a control character'
  if (!path.isWellFormed()) return 'its name has half of a character'
  if (path.includes('\uFFFD')) return 'the name is not UTF-8'
  if (/^[A-Za-z]:/.test(path)) return 'its name begins like a drive'
  const names = path.split('/')
  if (bytesOf(path) > maxPathBytes || names.some((name) => bytesOf(name) > maxNameBytes)) {
    return 'its name is too long'
  }
  return names.some((name) => name !== '.git' && isGitFolder(name))
    ? "its name is that of git's own folder somewhere"
    : undefined
}

/** A name as it can be shown and stored in a list: what could not be seen is written out. */
export function shownName(path: string): string {
  const shown = path.toWellFormed().replaceAll(new RegExp(hiddenSigns, 'gu'), (sign) => {
    return `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`
  })
  return shown.length > maxShown ? `${shown.slice(0, maxShown)}…` : shown
}

const maxShown = 500

export function folderOf(path: RepoPath): RepoPath {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** The folder and those around it, nearest first, the top one ('') last. */
export function foldersUp(folder: string): string[] {
  return folder === '' ? [''] : [folder, ...foldersUp(folderOf(folder))]
}

/** Is true when git treats the name as `.git`, on whatever system. Windows gives the second such folder the short name `git~2`. */
export function isGitFolder(name: string): boolean {
  return /^(?:\.git|git~\d+)[. ]*(?::.*)?$/i.test(withoutIgnored(name))
}

/** Removes the code points that a Mac's file system ignores in names, as git's is_hfs_dotgit does. */
export function withoutIgnored(name: string): string {
  return name.replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
}

/** Sorts by path, in the order of UTF-16 units. */
export function byPath(left: { path: string }, right: { path: string }): number {
  if (left.path === right.path) return 0
  return left.path < right.path ? -1 : 1
}

function faultOfPath(path: string): string | undefined {
  if (path === '') return 'is empty'
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'is absolute'
  if (path.includes('\0')) return 'contains a NUL byte'
  if (path.includes('\\')) return 'contains a backslash'
  if (!path.isWellFormed()) return 'has half of a character'
  if (bytesOf(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes`
  const segments = path.split('/')
  if (segments.includes('..')) return 'leads out of the repository'
  if (segments.some((segment) => segment === '' || segment === '.')) return 'is not in normal form'
  return undefined
}
