import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { isOfUser, othersMayWrite } from './ownership.ts'

/** `refused`: it is there, and `why` it does not count, to stand after its path. */
export type OwnFile = { kind: 'text'; text: string } | { kind: 'absent' } | { kind: 'refused'; why: string }

type FileRules = {
  /** A larger file is refused. */
  maxBytes: number
  /** Root's files count as well. */
  orOfRoot?: boolean
  /** A file that others can read is refused, too. */
  isSecret?: boolean
}

const othersMayRead = 0o044

/**
 * Reads a file that this user wrote and nobody else can have written. It is judged and read through one descriptor: what
 * is judged is what is read. A link is refused; what is no file, such as a pipe, or cannot be opened is `absent`, and
 * nothing is waited for.
 */
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
