import { AppError } from '#domain/error.ts'
import type { RepoPath } from '#domain/repo-path.ts'
import type { SnapshotLimits } from './snapshot-limits.ts'

/**
 * The paths one archive has used so far, with the folders above them. INTAKE_002 for a second file on a path, or one
 * path as file and as folder; INTAKE_003 for more of them, or more bytes of them, than allowed.
 */
export type PathSet = {
  addFile(path: RepoPath): void
  /** May be repeated. */
  addFolder(path: RepoPath): void
  hasFile(path: RepoPath): boolean
}

export function openPathSet({ maxPaths, maxNameBytes }: SnapshotLimits): PathSet {
  const paths = new Map<RepoPath, 'file' | 'folder'>()
  let bytes = 0
  const keep = (path: RepoPath, kind: 'file' | 'folder') => {
    paths.set(path, kind)
    bytes += Buffer.byteLength(path)
    if (paths.size > maxPaths) throw over(maxPaths, 'files and folders')
    if (bytes > maxNameBytes) throw over(maxNameBytes, 'bytes of paths')
  }
  const addFolder = (path: RepoPath) => {
    for (let folder = path; folder !== '' && paths.get(folder) !== 'folder'; folder = parentOf(folder)) {
      if (paths.has(folder)) throw new AppError('INTAKE_002', `${folder} is in the archive both as file and as folder`)
      keep(folder, 'folder')
    }
  }
  return {
    addFolder,
    addFile(path) {
      if (paths.has(path)) throw new AppError('INTAKE_002', `${path} is in the archive twice`)
      addFolder(parentOf(path))
      keep(path, 'file')
    },
    hasFile: (path) => paths.get(path) === 'file',
  }
}

function over(limit: number, what: string): AppError {
  return new AppError('INTAKE_003', `the archive has more than ${limit} ${what}`)
}

function parentOf(path: RepoPath): RepoPath {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}
