import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { lstat, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** `refused`: the file exists but is not trusted; `why` completes a sentence that begins with its path. */
export type OwnFile = { kind: 'text'; text: string } | { kind: 'absent' } | { kind: 'refused'; why: string }

type FileRules = {
  maxBytes: number
  orOfRoot?: boolean
  isSecret?: boolean
}

const othersMayRead = 0o044

/** Reads a file that only this user can have written. A link is refused; a pipe, or what cannot be opened, is `absent`. */
export function readOwnFile(path: string, rules: FileRules): OwnFile {
  const opened = openUnlinked(path)
  if (typeof opened !== 'number') return opened
  try {
    const stats = fstatSync(opened)
    if (!stats.isFile()) return { kind: 'absent' }
    const why = refusal(stats, rules)
    return why === undefined ? { kind: 'text', text: readFileSync(opened, 'utf8') } : { kind: 'refused', why }
  } finally {
    closeSync(opened)
  }
}

function refusal(stats: Stats, { maxBytes, orOfRoot, isSecret }: FileRules): string | undefined {
  if (!isOfUser(stats) && !(orOfRoot === true && stats.uid === 0)) return 'belongs to another user'
  if (othersMayWrite(stats)) return 'may be written by others'
  if (isSecret === true && (stats.mode & othersMayRead) !== 0) return 'may be read by others'
  return stats.size > maxBytes ? `has more than ${maxBytes} bytes` : undefined
}

function openUnlinked(path: string): number | OwnFile {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const isLink = error instanceof Error && 'code' in error && error.code === 'ELOOP'
    return isLink ? { kind: 'refused', why: 'is a link' } : { kind: 'absent' }
  }
}

/** Is true for a folder, no link, of this user that nobody else can write; for any folder where the system has no users. */
export async function isOwnFolder(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined)
  return stats?.isDirectory() === true && isOfUser(stats) && !othersMayWrite(stats)
}

/** Makes the folder, closed to others unless `mode` says otherwise, if it is missing. Returns whether it is ours, see `isOwnFolder`. */
export async function makeOwnFolder(path: string, mode = 0o700): Promise<boolean> {
  await mkdir(path, { recursive: true, mode }).catch(() => {}) // then it is not ours
  return isOwnFolder(path)
}

type Owned = { uid: number; gid: number; mode: number }

/** Is true when it belongs to this user, and always where the system has no users. */
export function isOfUser({ uid }: Owned): boolean {
  return process.getuid === undefined || uid === process.getuid()
}

/** A group with the owner's own number has no other members (Debian, Fedora; umask 002). Never true where the system has no users. */
export function othersMayWrite({ uid, gid, mode }: Owned): boolean {
  if (process.getuid === undefined) return false
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== uid)
}

/** Makes a folder and those above it. Not Node's own `recursive`: it tries for ever where a new folder gives ENOENT, as in /proc. */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const existing = await stat(path).catch(() => undefined)
  if (existing?.isDirectory() === true) return
  if (dirname(path) !== path) await makeFolder(dirname(path))
  await mkdir(path, mode).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  })
}
