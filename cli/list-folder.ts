import { access, constants, lstat, readlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { byPath, parseRepoPath, type RepoPath } from '#domain/repo-path.ts'
import type { SkipKind } from '#domain/skip-kind.ts'
import { walkFolder } from '#platform/walk-folder.ts'

export type ListedFile =
  | { kind: 'file'; path: RepoPath; executable: boolean }
  | { kind: 'link'; path: RepoPath; target: string }

export type FolderListing = {
  files: ListedFile[]
  skipped: SkippedFile[]
  /** Some files are named by .gitignore, and listed because git tracks them. */
  hasTrackedIgnored: boolean
}

/** `include`: kinds of files that are listed although they are skipped by default. */
export type ListOptions = { signal: AbortSignal; include?: readonly SkipKind[] }

/** Every checkout has it, and it is never sent, so it is not listed among the skipped files. */
const history = '.git'
/** Neither source nor ours to send: history, and a virtual environment that may be half made. */
const neverPacked = new Set([history, '.venv'])

export function isNeverPacked(name: string): boolean {
  return neverPacked.has(name)
}

const maxFileBytes = 64 * 1024 ** 2
const ownerMayExecute = 0o100

/**
 * What is to be sent of the folder `root`, sorted by path, and what is left out, with reasons: what .gitignore files
 * say of files that git does not track, installed packages, links that lead out, and what is too large, unreadable or no file.
 * Links are not followed. History and our own output are in neither list.
 */
export async function listFolder(root: string, { signal, include = [] }: ListOptions): Promise<FolderListing> {
  const walked = await walkFolder(root, { passOver: reasonToSkip, include }, signal)
  const { hasTrackedIgnored } = walked
  const skipped = walked.skipped.filter(({ path }) => posix.basename(path) !== history)
  const listing: FolderListing = { files: [], skipped, hasTrackedIgnored }
  for (const { path } of walked.entries) {
    signal.throwIfAborted()
    const listed = await listOne(root, path)
    if (typeof listed === 'string') listing.skipped.push({ path, reason: listed })
    else listing.files.push(listed)
  }
  return { ...listing, skipped: listing.skipped.toSorted(byPath) }
}

/** The entry as it is to be sent, or why it is not. */
async function listOne(root: string, path: RepoPath): Promise<ListedFile | string> {
  const full = join(root, path)
  const stats = await lstat(full).catch(() => undefined)
  if (stats === undefined) return 'gone before it was read'
  if (stats.isSymbolicLink()) {
    const target = await readlink(full)
    return leadsOut(path, target) ? 'a link that leads out of the folder' : { kind: 'link', path, target }
  }
  if (!stats.isFile()) return 'not a file'
  if (stats.size > maxFileBytes) return `larger than ${maxFileBytes} bytes`
  if (!(await isReadable(full))) return 'not readable'
  return { kind: 'file', path, executable: (stats.mode & ownerMayExecute) !== 0 }
}

function reasonToSkip(path: string): string | undefined {
  const name = posix.basename(path)
  if (neverPacked.has(name)) return `${name} is never sent`
  try {
    parseRepoPath(path, 'INTAKE_002')
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}

function leadsOut(path: string, target: string): boolean {
  const reached = posix.join(posix.dirname(path), target)
  return target.startsWith('/') || target.includes('\\') || reached === '..' || reached.startsWith('../')
}

async function isReadable(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  )
}
