import { lstat, mkdir, readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { unifiedDiff } from '#platform/unified-diff.ts'
import type { Workspace } from '../../services/worker/workspace/open-workspace.ts'
import { writeWhole } from '../run/output-file.ts'

/** A changed file. `before` is its text as the script saw it, null for a new file. */
export type WorkspaceChange = {
  path: string
  kind: 'create' | 'edit'
  before: string | null
  after: string
  diff: string
}

/** The files that a script changed in its workspace, sorted by path. */
export async function workspaceChanges(
  workspace: Pick<Workspace, 'changedPaths' | 'readText' | 'readBase'>,
  isInFolder: (path: string) => boolean,
): Promise<WorkspaceChange[]> {
  const changes: WorkspaceChange[] = []
  for (const path of workspace.changedPaths()) {
    const after = await workspace.readText(path)
    const before = isInFolder(path) ? await workspace.readBase(path) : null
    if (before === after) continue
    const versions = { path, before: before === null ? null : Buffer.from(before), after: Buffer.from(after) }
    const diff = Buffer.from(unifiedDiff(versions)).toString()
    changes.push({ path, kind: before === null ? 'create' : 'edit', before, after, diff })
  }
  return changes
}

const permissions = 0o777

/**
 * Writes the changes into the folder `top`, each file whole or not at all. WORK_002, before anything is written, when a
 * file has changed since the script saw it; CONFIG_003, with the files already written, when one cannot be written.
 */
export async function applyChanges(top: string, changes: readonly WorkspaceChange[]): Promise<void> {
  const stale: string[] = []
  for (const change of changes) if (!(await isAsShown(top, change))) stale.push(change.path)
  if (stale.length > 0) {
    const reason = 'changed in the folder while the script ran, or led out of it by a link'
    throw new AppError('WORK_002', `nothing is written: ${stale.join(', ')} ${reason}; run the script again`)
  }
  for (const [index, change] of changes.entries()) {
    try {
      await writeChange(top, change)
    } catch (cause) {
      const written = changes.slice(0, index).map(({ path }) => path)
      const before = written.length === 0 ? 'nothing was written' : `these were written: ${written.join(', ')}`
      const message = cause instanceof Error ? cause.message : String(cause)
      throw new AppError('CONFIG_003', `${change.path} could not be written (${message}); ${before}`, { cause })
    }
  }
}

/** False, too, when a link has appeared on the path to the file. */
async function isAsShown(top: string, { path, before }: WorkspaceChange): Promise<boolean> {
  const full = join(top, path)
  if (before === null) return (await lstat(full).catch(() => undefined)) === undefined && (await isInside(top, path))
  const isThere = (await realpath(full).catch(() => undefined)) === full
  return isThere && Buffer.compare(await readFile(full), Buffer.from(before)) === 0
}

/** Whether the nearest existing folder above a new file lies in `top` and is reached without a link. */
async function isInside(top: string, path: string): Promise<boolean> {
  for (let folder = dirname(join(top, path)); ; folder = dirname(folder)) {
    const real = await realpath(folder).catch(() => undefined)
    if (real !== undefined) return real === folder
    if ((await lstat(folder).catch(() => undefined)) !== undefined) return false // a link that leads nowhere
  }
}

async function writeChange(top: string, { path, before, after }: WorkspaceChange): Promise<void> {
  const full = join(top, path)
  if (before !== null) return writeWhole(full, [after], { mode: (await lstat(full)).mode & permissions })
  await mkdir(dirname(full), { recursive: true })
  return writeWhole(full, [after])
}
