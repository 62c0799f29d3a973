import { lstat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#domain/error.ts'
import type { FileChange } from '#domain/change-set.ts'
import { openScratchFolder } from '#platform/scratch-folder.ts'
import { type FileVersions, unifiedDiff } from '#platform/unified-diff.ts'
import type { Workspace } from '#stages/operate/workspace/open-workspace.ts'
import { findFile, readUnlinked, type Step, withExecution } from '../apply/merge-changes.ts'
import { writeChanges } from '../apply/write-changes.ts'

/** A changed file. `before` is what the script saw, null for a new file; `after` is null for a deleted one. */
export type WorkspaceChange = Omit<FileVersions, 'before' | 'after'> & {
  kind: FileChange['kind']
  before: Buffer | null
  after: Buffer | null
  diff: string
}

/** Returns the files that a script changed in its workspace, sorted by path. */
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

/** Writes whole files, deletions first, all or none. WORK_002 when one has changed since the script saw it, CONFIG_003 when one cannot be written. */
export async function applyChanges(top: string, changes: readonly WorkspaceChange[]): Promise<void> {
  const stale: string[] = []
  const deleted = changes.flatMap(({ kind, path }) => (kind === 'delete' ? [`${path}/`] : []))
  for (const change of changes) {
    const takesPlace = deleted.some((folder) => change.path.startsWith(folder)) // a folder for a file, which is checked itself
    if (!takesPlace && !(await isAsShown(top, change))) stale.push(change.path)
  }
  if (stale.length > 0) {
    const reason = 'changed in the folder while the script ran, or led out of it by a link'
    throw new AppError('WORK_002', `nothing is written: ${stale.join(', ')} ${reason}; run the script again`)
  }
  const inOrder = changes.toSorted((left, right) => Number(right.kind === 'delete') - Number(left.kind === 'delete'))
  await using scratch = await openScratchFolder('remora-tool-')
  const steps = inOrder.map((change, at) => stepOf(top, change, join(scratch.path, `${at}`)))
  await writeChanges(top, await Promise.all(steps))
}

const results = { create: 'created', edit: 'changed', delete: 'deleted' } as const

async function stepOf(top: string, change: WorkspaceChange, kept: string): Promise<Step> {
  const { path, kind, before, after, executable } = change
  const keep = async (name: string, bytes: Buffer | null) => {
    if (bytes === null) return null
    await writeFile(`${kept}-${name}`, bytes)
    return `${kept}-${name}`
  }
  const mode = before === null ? undefined : (await lstat(join(top, path))).mode & 0o7777
  const newMode = executable === undefined ? mode : withExecution(mode ?? 0o666 & ~process.umask(), executable)
  const [current, content] = [await keep('found', before), await keep('content', after)]
  return { path, result: results[kind], current, content, mode, newMode, isResult: false }
}

/** Is false, too, when a link has appeared on the path to the file. */
async function isAsShown(top: string, { path, before }: WorkspaceChange): Promise<boolean> {
  const stats = await findFile(top, path)
  if (before === null || stats === null || typeof stats === 'string') return before === null && stats === null
  const bytes = await readUnlinked(join(top, path))
  return bytes !== undefined && Buffer.compare(bytes, before) === 0
}
