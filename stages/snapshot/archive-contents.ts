import { posix } from 'node:path'
import type { SkippedFile } from '#domain/code-node.ts'
import { AppError, unreachable } from '#domain/error.ts'
import { isSecretByName, secretReason } from '#domain/path-purpose.ts'
import { folderOf, foldersUp, oddName, parseRepoPath, type RepoPath, shownName } from '#domain/repo-path.ts'
import type { SkipKind } from '#domain/run.ts'
import type { SnapshotFile, SnapshotLink } from '#store/objects/snapshot.ts'
import type { ArchiveEntry } from './archive-source.ts'
import { type SnapshotLimits, tooMany } from './snapshot-limits.ts'

export type ArchiveContents = {
  entries: number
  paths: ReturnType<typeof openPathSet>
  files: Map<RepoPath, SnapshotFile>
  links: SnapshotLink[]
  hardLinks: { path: RepoPath; file: RepoPath }[]
  /** Gives the reason by path. */
  skipped: Map<string, string>
}

/** `include`: kinds of files that are taken although they are skipped by default. */
export type Admission = { limits: SnapshotLimits; include: readonly SkipKind[] }

export function emptyContents(limits: SnapshotLimits): ArchiveContents {
  return { entries: 0, paths: openPathSet(limits), files: new Map(), links: [], hardLinks: [], skipped: new Map() }
}

/**
 * Checks and adds the next entry, and returns the path of a file whose content must be stored. INTAKE_002 for an unsafe path or kind, and
 * two entries on one path; INTAKE_003 over a limit. What is odd, secret or git's own is skipped and listed.
 */
export function admitEntry(
  entry: ArchiveEntry,
  contents: ArchiveContents,
  { limits, include }: Admission,
): RepoPath | undefined {
  contents.entries += 1
  if (contents.entries > limits.maxEntries) throw tooMany('entries', limits.maxEntries)
  const odd = oddName(entry.name)
  if (odd !== undefined && !leadsOut(entry.name)) {
    contents.skipped.set(shownName(entry.name.replace(/^(?:\.\/+)+/, '')), odd)
    return undefined
  }
  const path = entryPath(entry.name, limits)
  if (path === undefined) return undefined
  const skip = skipReason(path, entry, include)
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
      contents.paths.addFile(path)
      admitLink(path, entry.target, contents)
      return undefined
    case 'link':
      admitHardLink(path, entry.target, contents)
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

/** The target counts from the root of the archive. INTAKE_002 for one inside that is no earlier file; one that leads out is skipped. */
function admitHardLink(path: RepoPath, target: string, { paths, hardLinks, skipped }: ArchiveContents): void {
  const outside = whyOutside(path, target, '.')
  if (outside !== undefined) {
    skipped.set(path, outside)
    return
  }
  const file = parseRepoPath(target, 'INTAKE_002')
  const reason = skipped.get(file)
  if (reason !== undefined) skipped.set(path, reason)
  else if (paths.hasFile(file)) hardLinks.push({ path, file })
  else {
    const shown = JSON.stringify(file)
    throw new AppError('INTAKE_002', `${path} is a hard link to ${shown}, no earlier file of the archive`)
  }
}

/** Hard links are resolved: to be called when every admitted file has been stored. */
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

/** Whatever else is odd about it: such a path is no accident. */
function leadsOut(name: string): boolean {
  return name.startsWith('/') || name.includes('\0') || name.split(/[/\\]/).includes('..')
}

/** Returns the path in normal form; undefined for the root folder itself. INTAKE_002 unsafe, INTAKE_003 too deep. */
function entryPath(name: string, limits: SnapshotLimits): RepoPath | undefined {
  if (/^\.\/*$/.test(name)) return undefined
  const path = parseRepoPath(name, 'INTAKE_002')
  if (path.split('/').length > limits.maxDepth) {
    const shown = JSON.stringify(path.slice(0, 200))
    throw new AppError('INTAKE_003', `path ${shown} is deeper than ${limits.maxDepth} folders`)
  }
  return path
}

/** Skips a link to what is outside the repository, as many repositories have, also by a path of Windows. */
function admitLink(path: RepoPath, target: string, { links, skipped }: ArchiveContents): void {
  const outside = whyOutside(path, target, posix.dirname(path))
  if (outside === undefined) links.push({ path, target })
  else skipped.set(path, outside)
}

/** Says why a link's target, counted from `folder`, is outside the repository. INTAKE_002 for one that no file system takes. */
function whyOutside(path: RepoPath, target: string, folder: string): string | undefined {
  const shown = JSON.stringify(target.slice(0, 200))
  if (target === '' || target.includes('\0')) throw new AppError('INTAKE_002', `${path} is a link to ${shown}`)
  const reached = posix.join(folder, target)
  if (target.startsWith('/') || reached === '..' || reached.startsWith('../')) {
    return `a link to ${shown}, which is outside the repository`
  }
  return /^[A-Za-z]:|\\/.test(target) ? `a link to ${shown}, which is no path here` : undefined
}

function skipReason(path: RepoPath, entry: ArchiveEntry, include: readonly SkipKind[]): SkippedFile | undefined {
  const segments = path.split('/')
  const git = segments.indexOf('.git')
  if (git >= 0) return { path: segments.slice(0, git + 1).join('/'), reason: "Git's own data" }
  const { type } = entry
  if ((type !== 'file' && type !== 'symlink' && type !== 'link') || include.includes('secrets')) return undefined
  return isSecretByName(path) ? { path, reason: secretReason } : undefined
}

/** INTAKE_002 for a second file on a path, or one path as file and folder; INTAKE_003 for more, or more bytes, than allowed. */
function openPathSet({ maxPaths, maxNameBytes }: SnapshotLimits) {
  const paths = new Map<RepoPath, 'file' | 'folder'>()
  let bytes = 0
  const keep = (path: RepoPath, kind: 'file' | 'folder') => {
    paths.set(path, kind)
    bytes += Buffer.byteLength(path)
    if (paths.size > maxPaths) throw tooMany('files and folders', maxPaths)
    if (bytes > maxNameBytes) throw tooMany('bytes of paths', maxNameBytes)
  }
  const addFolder = (path: RepoPath) => {
    for (let folder = path; folder !== '' && paths.get(folder) !== 'folder'; folder = folderOf(folder)) {
      if (paths.has(folder)) throw new AppError('INTAKE_002', `${folder} is in the archive both as file and as folder`)
      keep(folder, 'folder')
    }
  }
  return {
    addFolder,
    addFile(path: RepoPath) {
      if (paths.has(path)) throw new AppError('INTAKE_002', `${path} is in the archive twice`)
      addFolder(folderOf(path))
      keep(path, 'file')
    },
    hasFile: (path: RepoPath) => paths.get(path) === 'file',
    hasFolder: (path: RepoPath) => paths.get(path) === 'folder',
    /** Is true when a file could be there: nothing is, and no folder of the path is a file. */
    isFree: (path: RepoPath) => !paths.has(path) && foldersUp(folderOf(path)).every((at) => paths.get(at) !== 'file'),
  }
}
