import { AppError } from '#domain/error.ts'
import type { RepoPath } from '#domain/repo-path.ts'

/** The paths one archive has used so far. INTAKE_002 for a second file on a path, or one path as file and as folder. */
export type PathSet = {
  addFile(path: RepoPath): void
  /** May be repeated. */
  addFolder(path: RepoPath): void
  hasFile(path: RepoPath): boolean
}

export function openPathSet(): PathSet {
  const paths = new Map<RepoPath, 'file' | 'folder'>()
  const addFolder = (path: RepoPath) => {
    for (let folder = path; folder !== '' && paths.get(folder) !== 'folder'; folder = parentOf(folder)) {
      if (paths.has(folder)) throw new AppError('INTAKE_002', `${folder} is in the archive both as file and as folder`)
      paths.set(folder, 'folder')
    }
  }
  return {
    addFolder,
    addFile(path) {
      if (paths.has(path)) throw new AppError('INTAKE_002', `${path} is in the archive twice`)
      addFolder(parentOf(path))
      paths.set(path, 'file')
    },
    hasFile: (path) => paths.get(path) === 'file',
  }
}

function parentOf(path: RepoPath): RepoPath {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}
