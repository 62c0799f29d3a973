import { lstat, mkdir, readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '#domain/error.ts'
import { writeWhole } from '../run/output-file.ts'
import type { WorkspaceChange } from './workspace-changes.ts'

const permissions = 0o777

/**
 * Writes the changes into the folder `top`, each file whole or not at all. WORK_002, before anything is written, when one
 * of the files is not any more what the script was shown; CONFIG_003 when one cannot be written, with those that were.
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

/** Also false where a link has come up on the way to the file. */
async function isAsShown(top: string, { path, before }: WorkspaceChange): Promise<boolean> {
  const full = join(top, path)
  if (before === null) return (await lstat(full).catch(() => undefined)) === undefined && (await isInside(top, path))
  const isThere = (await realpath(full).catch(() => undefined)) === full
  return isThere && Buffer.compare(await readFile(full), Buffer.from(before)) === 0
}

/** Whether the nearest folder that is there on the way to a new file is one of `top`, reached without a link. */
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
