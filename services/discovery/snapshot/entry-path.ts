import { posix } from 'node:path'
import type { SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { parseRepoPath, type RepoPath } from '#domain/repo-path.ts'
import type { SnapshotLimits } from './snapshot-limits.ts'

/**
 * The entry's path in normal form; undefined for the root folder itself. INTAKE_002 unsafe, INTAKE_003 too long or
 * deep.
 */
export function entryPath(name: string, limits: SnapshotLimits): RepoPath | undefined {
  if (Buffer.byteLength(name) > limits.maxPathBytes) {
    throw new AppError('INTAKE_003', `path ${JSON.stringify(name.slice(0, 200))}… is over ${limits.maxPathBytes} bytes`)
  }
  if (/^\.\/*$/.test(name)) return undefined
  const path = parseRepoPath(name, 'INTAKE_002')
  if (path.split('/').length > limits.maxDepth) {
    throw new AppError(
      'INTAKE_003',
      `path ${JSON.stringify(path.slice(0, 200))} is deeper than ${limits.maxDepth} folders`,
    )
  }
  return path
}

/** Where a symbolic link leads, as it is written. INTAKE_002 when that is not inside the repository. */
export function insideTarget(path: RepoPath, target: string): string {
  const reached = posix.join(posix.dirname(path), target)
  const leadsOut = target.startsWith('/') || reached === '..' || reached.startsWith('../')
  if (leadsOut || target === '' || /[\0\\]/.test(target)) {
    throw new AppError(
      'INTAKE_002',
      `${path} is a link to ${JSON.stringify(target.slice(0, 200))}, outside the repository`,
    )
  }
  return target
}

/** Why a path is passed over, named once for a whole folder of Git's data; undefined: it is taken. */
export function skipReason(path: RepoPath): SkippedFile | undefined {
  const segments = path.split('/')
  const git = segments.indexOf('.git')
  if (git >= 0) return { path: segments.slice(0, git + 1).join('/'), reason: "Git's own data" }
  // What does not decode becomes U+FFFD: the file could not be written back under its own name.
  return path.includes('\uFFFD') ? { path, reason: 'the name is not UTF-8' } : undefined
}
