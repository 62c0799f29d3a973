import { createReadStream } from 'node:fs'
import { mkdir, readFile, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError, asAppError } from '#domain/error.ts'
import { folderOf, foldersUp, type RepoPath } from '#domain/repo-path.ts'
import { writeWhole } from '../run/output-file.ts'
import { findFile, readUnlinked, type Step } from './merge-changes.ts'

type Undo = { path: RepoPath; undo: () => Promise<unknown> }

/**
 * Carries out the steps in `folder`, one whole file after the other. When one cannot be, what was written is put back, and the
 * error says so: WORK_002 for a file that has changed in this moment, CONFIG_003 for one that cannot be written.
 */
export async function writeChanges(folder: string, steps: readonly Step[]): Promise<void> {
  const done: Undo[] = []
  try {
    for (const step of steps) if (step.result !== 'there') await carryOut(folder, step, done)
  } catch (cause) {
    const { code, message } = asAppError(cause, 'CONFIG_003')
    const left = await putBack(done)
    const state =
      left.length === 0
        ? 'what had been written was put back, so nothing is changed'
        : `these files are changed and could not be put back: ${left.join(', ')}`
    throw new AppError(code, `${message}; ${state}`, { cause })
  }
}

async function putBack(done: readonly Undo[]): Promise<RepoPath[]> {
  const left: RepoPath[] = []
  for (const { path, undo } of done.toReversed()) {
    await undo().catch(() => left.push(path))
  }
  return left
}

async function carryOut(folder: string, step: Step, done: Undo[]): Promise<void> {
  const { path, current, content, mode, newMode } = step
  await requireUnchanged(folder, step)
  const fullPath = join(folder, path)
  if (content === null) {
    await rm(fullPath)
    done.push({ path, undo: () => putBackFile(folder, step, () => write(fullPath, { content: current, mode })) })
    await removeEmptied(folder, path, done)
    return
  }
  const made = await mkdir(dirname(fullPath), { recursive: true })
  if (made !== undefined) done.push({ path, undo: () => removeFolders(dirname(fullPath), made) })
  await write(fullPath, { content, mode: newMode })
  const undo = () => (current === null ? rm(fullPath) : write(fullPath, { content: current, mode }))
  done.push({ path, undo: () => putBackFile(folder, step, undo) })
}

async function write(fullPath: string, { content, mode }: { content: string | null; mode: number | undefined }) {
  if (content !== null) await writeWhole(fullPath, createReadStream(content), mode === undefined ? {} : { mode })
}

/** Undoes a step, unless somebody has saved the file since it was written: that stays. */
async function putBackFile(folder: string, { path, content }: Step, undo: () => Promise<unknown>): Promise<void> {
  await requireUnchanged(folder, { path, current: content })
  await undo()
}

/** Somebody may have saved the file since it was read, or put a link in its place. */
async function requireUnchanged(folder: string, { path, current }: Pick<Step, 'path' | 'current'>): Promise<void> {
  const stats = await findFile(folder, path)
  if (stats === null && current === null) return
  if (stats !== null && typeof stats !== 'string' && current !== null) {
    const bytes = await readUnlinked(join(folder, path))
    if (bytes !== undefined && Buffer.compare(bytes, await readFile(current)) === 0) return
  }
  throw new AppError('WORK_002', `${path} was changed in this moment`)
}

async function removeFolders(innermost: string, outermost: string): Promise<void> {
  for (let fullPath = innermost; fullPath.length >= outermost.length; fullPath = dirname(fullPath))
    await rmdir(fullPath)
}

/** Removes folders without files, as git does. */
async function removeEmptied(folder: string, path: RepoPath, done: Undo[]): Promise<void> {
  for (const above of foldersUp(folderOf(path)).filter((name) => name !== '')) {
    const fullPath = join(folder, above)
    const isGone = await rmdir(fullPath).then(
      () => true,
      () => false,
    )
    if (!isGone) return
    done.push({ path, undo: () => mkdir(fullPath, { recursive: true }) })
  }
}
