import { createReadStream } from 'node:fs'
import { access, constants, lstat, open, readFile, readlink, stat } from 'node:fs/promises'
import { basename, join, posix } from 'node:path'
import type { SkippedFile } from '#domain/code-node.ts'
import { AppError, asAppError } from '#domain/error.ts'
import type { SkipKind } from '#domain/run.ts'
import { describeForeign, sniffArchive, sniffBytes } from '#domain/archive-format.ts'
import { byPath, oddName, type RepoPath } from '#domain/repo-path.ts'
import { gzippedTar, type TarItem } from '#platform/gzipped-tar.ts'
import type { Env } from '#platform/env.ts'
import { walkFolder } from '#platform/walk-folder.ts'

/** An archive to send. `files` is null for an archive that was named as such. `stream` begins anew each time that it is read. */
export type Packed = {
  stream: AsyncIterable<Uint8Array>
  files: number | null
  skipped: SkippedFile[]
  /** Lists what the run must include, because git tracks some files although .gitignore, which is also sent, names them. */
  include: SkipKind[]
}

/** Sends kinds of files with `include` that are skipped by default, and finds git and its settings with the caller's `env`. */
export type PackOptions = { signal: AbortSignal; include?: readonly SkipKind[]; env?: Env }

/** Packs a folder; a tar, gzipped tar or zip is sent as it is. INTAKE_001 when `path` cannot be sent, INTAKE_007 when a folder is empty. */
export async function packPath(path: string, options: PackOptions): Promise<Packed> {
  const stats = await stat(path).catch((error: unknown) => {
    throw new AppError('INTAKE_001', `${path} cannot be read: ${messageOf(error)}`, { cause: error })
  })
  if (stats.isFile()) return passArchive(path, options)
  if (!stats.isDirectory()) throw new AppError('INTAKE_001', `${path} is neither a folder nor an archive`)
  const packed = await packFolder(path, options)
  if (packed.files === 0) throw new AppError('INTAKE_007', `${path} holds no file to send`)
  return packed
}

/**
 * Returns a gzipped tar of the folder, packed while it is read: one file in memory at a time, in path order, with no times or
 * owners, so that the same files give the same bytes. If a file disappears meanwhile, the stream fails with INTAKE_001.
 */
export async function packFolder(path: string, options: PackOptions): Promise<Packed> {
  const { signal } = options
  const { files, skipped, hasTrackedIgnored } = await listFolder(path, options).catch((error: unknown) => {
    signal.throwIfAborted()
    throw asAppError(error, 'INTAKE_001')
  })
  const include: SkipKind[] = hasTrackedIgnored ? ['ignored'] : []
  const stream = {
    [Symbol.asyncIterator]: () => gzippedTar(itemsOf(path, files, signal), signal)[Symbol.asyncIterator](),
  }
  return { stream, files: files.length, skipped, include }
}

const archiveName = /\.(?:tar|tgz|zip|gz|bz2|xz|zst|lz4?|7z|rar|bundle|Z)$/i

async function passArchive(path: string, { signal }: PackOptions): Promise<Packed> {
  const start = await readStart(path)
  if (sniffArchive(start) === undefined) {
    const alone = archiveName.test(path) ? '' : `; for one file, name its folder and --paths ${basename(path)}`
    throw new AppError('INTAKE_001', `${path} ${describeForeign(start)}${alone}`)
  }
  const stream = { [Symbol.asyncIterator]: () => createReadStream(path, { signal })[Symbol.asyncIterator]() }
  return { stream, files: null, skipped: [], include: [] }
}

async function readStart(path: string): Promise<Uint8Array> {
  try {
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(sniffBytes), 0, sniffBytes, 0)
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    throw new AppError('INTAKE_001', `${path} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

async function* itemsOf(root: string, files: readonly ListedFile[], signal: AbortSignal): AsyncGenerator<TarItem> {
  for (const file of files) {
    signal.throwIfAborted()
    if (file.kind === 'link') yield file
    else yield { path: file.path, content: await readContent(root, file.path), executable: file.executable }
  }
}

async function readContent(root: string, path: string): Promise<Uint8Array> {
  try {
    return await readFile(join(root, path))
  } catch (error) {
    throw new AppError('INTAKE_001', `${path} changed while it was packed: ${messageOf(error)}`, { cause: error })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

type ListedFile =
  | { kind: 'file'; path: RepoPath; executable: boolean }
  | { kind: 'link'; path: RepoPath; target: string }

export type FolderListing = {
  files: ListedFile[]
  skipped: SkippedFile[]
  /** Is true when .gitignore names some listed files, which git tracks all the same. */
  hasTrackedIgnored: boolean
}

/** Is not even listed among the skipped files, because every checkout has it. */
const history = '.git'
/** Holds the history, and a virtual environment, which may be incomplete. */
const neverPacked = new Set([history, '.venv'])

export function isNeverPacked(name: string): boolean {
  return neverPacked.has(name)
}

const maxFileBytes = 64 * 1024 ** 2
const ownerMayExecute = 0o100

/**
 * Returns the files of the folder `root` to send, sorted by path, and those that are skipped, with reasons: untracked files that
 * .gitignore names, installed packages, links that lead out of the folder, and what is too large, unreadable or not a file.
 * Links are not followed. History and our own output are in neither list.
 */
export async function listFolder(
  root: string,
  { signal, include = [], env = {} }: PackOptions,
): Promise<FolderListing> {
  const walked = await walkFolder(root, { passOver: reasonToSkip, include, env }, signal)
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

/** Returns the entry to send, or the reason why it is skipped. */
async function listOne(root: string, path: RepoPath): Promise<ListedFile | string> {
  const full = join(root, path)
  const stats = await lstat(full).catch(() => undefined)
  if (stats === undefined) return 'removed before it was read'
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
  return oddName(path)
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
