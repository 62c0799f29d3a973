import { chmod, lstat, mkdir, readdir, readFile, realpath, rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '#domain/error.ts'
import type { FileChange } from '#domain/change-set.ts'
import { folderOf, foldersUp } from '#domain/repo-path.ts'
import { type FileVersions, unifiedDiff } from '#platform/unified-diff.ts'
import type { Workspace } from '../../services/worker/workspace/open-workspace.ts'
import { writeWhole } from '../run/output-file.ts'

/** A changed file. `before` is what the script saw, null for a new file; `after` is null for a deleted one. */
export type WorkspaceChange = Omit<FileVersions, 'before' | 'after'> & {
  kind: FileChange['kind']
  before: Buffer | null
  after: Buffer | null
  diff: string
}

/** The files that a script changed in its workspace, sorted by path. */
export async function workspaceChanges(
  workspace: Pick<Workspace, 'changes' | 'readText' | 'readBaseBytes'>,
): Promise<WorkspaceChange[]> {
  const changes: WorkspaceChange[] = []
  for (const { kind, path, executable } of await workspace.changes()) {
    const before = kind === 'create' ? null : Buffer.from(await workspace.readBaseBytes(path))
    const after = kind === 'delete' ? null : Buffer.from(await workspace.readText(path))
    const versions = { path, before, after, executable }
    changes.push({ ...versions, kind, diff: Buffer.from(unifiedDiff(versions)).toString() })
  }
  return changes
}

/** Of a file's mode; the three bits by which it may be executed. */
const [permissions, execution] = [0o777, 0o111]

/**
 * Makes the changes in the folder `top`, each file whole or not at all, deletions first. WORK_002, before anything is written, when a
 * file has changed since the script saw it; CONFIG_003, with the files already written, when one cannot be written.
 */
export async function applyChanges(top: string, changes: readonly WorkspaceChange[]): Promise<void> {
  const stale: string[] = []
  for (const change of changes) if (!(await isAsShown(top, change))) stale.push(change.path)
  if (stale.length > 0) {
    const reason = 'changed in the folder while the script ran, or led out of it by a link'
    throw new AppError('WORK_002', `nothing is written: ${stale.join(', ')} ${reason}; run the script again`)
  }
  const inOrder = changes.toSorted((one, other) => Number(other.kind === 'delete') - Number(one.kind === 'delete'))
  for (const [index, change] of inOrder.entries()) {
    try {
      await writeChange(top, change)
    } catch (cause) {
      const written = inOrder.slice(0, index).map(({ path }) => path)
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
  return isThere && Buffer.compare(await readFile(full), before) === 0
}

/** Whether the nearest existing folder above a new file lies in `top` and is reached without a link. */
async function isInside(top: string, path: string): Promise<boolean> {
  for (let folder = dirname(join(top, path)); ; folder = dirname(folder)) {
    const real = await realpath(folder).catch(() => undefined)
    if (real !== undefined) return real === folder
    if ((await lstat(folder).catch(() => undefined)) !== undefined) return false // a link that leads nowhere
  }
}

async function writeChange(top: string, { path, before, after, executable }: WorkspaceChange): Promise<void> {
  const full = join(top, path)
  if (after === null) return removeFile(top, path)
  await mkdir(dirname(full), { recursive: true })
  await writeWhole(full, [after], before === null ? {} : { mode: await modeOf(full) })
  if (executable !== undefined) await chmod(full, withBit(await modeOf(full), executable))
}

async function modeOf(full: string): Promise<number> {
  return (await lstat(full)).mode & permissions
}

/** Who may read the file may execute it. */
function withBit(mode: number, executable: boolean): number {
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~execution
}

/** With the folders that are empty then, as git does. */
async function removeFile(top: string, path: string): Promise<void> {
  await unlink(join(top, path))
  for (const folder of foldersUp(folderOf(path)).slice(0, -1)) {
    if ((await readdir(join(top, folder))).length > 0) return
    await rmdir(join(top, folder))
  }
}
