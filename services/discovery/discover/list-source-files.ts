import { lstat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { unreachable } from '#domain/unreachable.ts'
import type { SkipKind } from '#domain/skip-kind.ts'
import { type EntryKind, walkFolder } from '#platform/walk-folder.ts'
import { hiddenReason } from './unwanted/unwanted-path.ts'

/**
 * `state` is another whenever the content is: size, times to the nanosecond, and what the file system calls the file.
 * `changedMs` is when it last changed, by the file system's clock.
 */
export type ListedFile = { path: string; size: number; state: string; changedMs: number }

/** Files that are looked at at once. */
const atOnce = 256

export type ListedSources = { files: ListedFile[]; skipped: SkippedFile[] }

/**
 * The regular files under `root` that discovery may want, with paths relative to it and sizes in bytes; what was passed
 * over is in `skipped` once, with its reason. What .gitignore files say is done with. DISC_005 when `root` is no folder
 * that can be listed.
 */
export async function listSourceFiles(
  root: string,
  include: readonly SkipKind[],
  signal: AbortSignal,
): Promise<ListedSources> {
  const walked = await walkFolder(root, { passOver: reasonToSkip, include }, signal).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw new AppError('DISC_005', `folder ${root} cannot be listed`, { cause, phase: 'discovery' })
  })
  const listed: ListedSources = { files: [], skipped: walked.skipped }
  for (let at = 0; at < walked.entries.length; at += atOnce) {
    signal.throwIfAborted()
    const some = walked.entries.slice(at, at + atOnce)
    for (const file of await Promise.all(some.map(({ path }) => lookAt(root, path)))) {
      if ('reason' in file) listed.skipped.push(file)
      else listed.files.push(file)
    }
  }
  return listed
}

/** A file may be gone by now. */
async function lookAt(root: string, path: string): Promise<ListedFile | SkippedFile> {
  try {
    const { size, ctimeMs, mtimeNs, ctimeNs, ino } = await lstat(join(root, path), { bigint: true })
    const state = [size, mtimeNs, ctimeNs, ino].join(' ')
    return { path, size: Number(size), state, changedMs: Number(ctimeMs) }
  } catch {
    return { path, reason: 'DISC_005: the file cannot be read' }
  }
}

function reasonToSkip(path: string, kind: EntryKind): string | undefined {
  switch (kind) {
    case 'file':
      return undefined
    case 'folder':
      return basename(path).startsWith('.') ? hiddenReason : undefined
    case 'link':
      return 'symbolic link'
    case 'other':
      return 'not a regular file'
    default:
      return unreachable(kind)
  }
}
