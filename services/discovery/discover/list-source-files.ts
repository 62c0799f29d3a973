import { lstat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { unreachable } from '#domain/unreachable.ts'
import { type EntryKind, walkFolder } from '#platform/walk-folder.ts'
import { unwantedFolder } from './unwanted-path.ts'

type ListedFile = { path: string; size: number }

export type ListedSources = { files: ListedFile[]; skipped: SkippedFile[] }

/**
 * The regular files under `root` that discovery may want, with paths relative to it and sizes in bytes; what was passed
 * over is in `skipped` once, with its reason. DISC_005 when `root` is no folder that can be listed.
 */
export async function listSourceFiles(root: string, signal: AbortSignal): Promise<ListedSources> {
  const walked = await walkFolder(root, reasonToSkip, signal).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw new AppError('DISC_005', `folder ${root} cannot be listed`, { cause, phase: 'discovery' })
  })
  const listed: ListedSources = { files: [], skipped: walked.skipped }
  for (const { path } of walked.entries) await takeFile(root, path, listed)
  return listed
}

/** A name that is not UTF-8 cannot be asked for again, and a file may be gone by now: both are skipped. */
async function takeFile(root: string, path: string, listed: ListedSources): Promise<void> {
  try {
    listed.files.push({ path, size: (await lstat(join(root, path))).size })
  } catch {
    listed.skipped.push({ path, reason: 'DISC_005: the file cannot be read' })
  }
}

function reasonToSkip(path: string, kind: EntryKind): string | undefined {
  switch (kind) {
    case 'file':
      return undefined
    case 'folder':
      return unwantedFolder(basename(path), false)
    case 'link':
      return 'symbolic link'
    case 'other':
      return 'not a regular file'
    default:
      return unreachable(kind)
  }
}
