import type { SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { parseRepoPath, type RepoPath } from '#domain/repo-path.ts'
import { unreachable } from '#domain/unreachable.ts'
import type { SnapshotFile, SnapshotLink } from '#objects/snapshot-view.ts'
import type { ArchiveEntry } from './archive-entry.ts'
import { entryPath, insideTarget, skipReason } from './entry-path.ts'
import { openPathSet, type PathSet } from './path-set.ts'
import type { SnapshotLimits } from './snapshot-limits.ts'

/** What one archive comes to, as its entries are admitted and their contents stored. */
export type ArchiveContents = {
  entries: number
  paths: PathSet
  files: Map<RepoPath, SnapshotFile>
  links: SnapshotLink[]
  /** Second names of files that the archive showed before. */
  hardLinks: { path: RepoPath; file: RepoPath }[]
  /** Reason by path. */
  skipped: Map<string, string>
}

export function emptyContents(limits: SnapshotLimits): ArchiveContents {
  return { entries: 0, paths: openPathSet(limits), files: new Map(), links: [], hardLinks: [], skipped: new Map() }
}

/**
 * Judges the next entry, keeps it in `contents` and answers the path of a file whose content is to be stored. Throws
 * INTAKE_002 for a path or link that leads out, a device or pipe, and two entries on one path; INTAKE_003 over a limit.
 * Git's own data and names that are not UTF-8 are skipped and listed.
 */
export function admitEntry(
  entry: ArchiveEntry,
  contents: ArchiveContents,
  limits: SnapshotLimits,
): RepoPath | undefined {
  contents.entries += 1
  if (contents.entries > limits.maxEntries) {
    throw new AppError('INTAKE_003', `the archive has more than ${limits.maxEntries} entries`)
  }
  const path = entryPath(entry.name, limits)
  if (path === undefined) return undefined
  const skip = skipReason(path)
  if (skip === undefined) return admitAt(path, entry, contents, limits)
  contents.skipped.set(skip.path, skip.reason)
  return undefined
}

function admitAt(
  path: RepoPath,
  entry: ArchiveEntry,
  contents: ArchiveContents,
  limits: SnapshotLimits,
): RepoPath | undefined {
  const { type } = entry
  switch (type) {
    case 'file':
      if (entry.size > limits.maxFileBytes) {
        throw new AppError('INTAKE_003', `${path} is larger than ${limits.maxFileBytes} bytes`)
      }
      contents.paths.addFile(path)
      return path
    case 'directory':
      contents.paths.addFolder(path)
      return undefined
    case 'symlink':
      contents.links.push({ path, target: insideTarget(path, entry.target) })
      contents.paths.addFile(path)
      return undefined
    case 'link':
      contents.hardLinks.push({ path, file: linkedFile(path, entry.target, contents) })
      contents.paths.addFile(path)
      return undefined
    case 'character-device':
    case 'block-device':
    case 'fifo':
      throw new AppError('INTAKE_002', `${path} is a ${type}`)
    case 'pax-header':
    case 'pax-global-header':
    case 'gnu-long-name':
    case 'gnu-long-link-name':
      throw new AppError('INTAKE_001', `${path} is a header without an entry`)
    default:
      return unreachable(type)
  }
}

/** A hard link is one more name of an earlier file: the same content, never a way out. */
function linkedFile(path: RepoPath, target: string, { paths }: ArchiveContents): RepoPath {
  const file = parseRepoPath(target, 'INTAKE_002')
  if (paths.hasFile(file)) return file
  throw new AppError('INTAKE_002', `${path} is a hard link to ${JSON.stringify(file)}, no earlier file of the archive`)
}

/** All files, hard links resolved; to be asked for when every admitted file has been stored. */
export function filesOf({ files, hardLinks }: ArchiveContents): SnapshotFile[] {
  const all = new Map(files)
  for (const { path, file } of hardLinks) {
    const linked = all.get(file)
    // Its target is a symbolic link, or follows one.
    if (linked === undefined) throw new AppError('INTAKE_002', `${path} is a hard link to ${file}, which is no file`)
    all.set(path, { ...linked, path })
  }
  return [...all.values()]
}

export function skippedOf({ skipped }: ArchiveContents): SkippedFile[] {
  return Array.from(skipped, ([path, reason]) => ({ path, reason }))
}
