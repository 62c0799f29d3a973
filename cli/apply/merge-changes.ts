import type { Stats } from 'node:fs'
import { constants, lstat, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { editsBetween } from '#change-sets/edits-between.ts'
import { takesTests } from '#change-sets/test-text.ts'
import { AppError } from '#domain/error.ts'
import type { RepoPath } from '#domain/repo-path.ts'
import type { ChangedFile } from './fetch-changes.ts'
import { type CollidingPlace, type MergedFile, mergeFiles, type ThreeSides } from './merge-files.ts'

/** Says what is to be done with a file of the working copy. `there` is nothing: it has the change. */
export type StepResult = 'created' | 'changed' | 'merged' | 'deleted' | 'there'

/**
 * Describes a step to the changed files. `current` and `content` are files in the scratch folder with the bytes that the working copy has,
 * and will have, under `path`; null for no file. `mode` and `newMode`: its permissions now and then, undefined for those of a new
 * file.
 */
export type Step = {
  path: RepoPath
  result: StepResult
  current: string | null
  content: string | null
  mode: number | undefined
  newMode: number | undefined
  /** Is true when the file is just as the run has it now: nobody else has changed it. */
  isResult: boolean
}

type Unmergeable = Extract<MergedFile, { places: unknown }>

export type RefusedFile = Unmergeable & { path: RepoPath; why: string }

type MergingChanges = {
  scratch: string
  searchPath: string
  describe?: (refused: readonly RefusedFile[]) => Promise<readonly string[]>
}

/**
 * Returns what must be done for `folder` to have the changes: files that are as the run found them take the result, others are
 * merged by git, line by line. Writes only into `scratch`. Throws WORK_002 that names every file for which that is not possible.
 */
export async function mergeChanges(
  folder: string,
  changes: readonly ChangedFile[],
  { scratch, searchPath, describe }: MergingChanges,
): Promise<Step[]> {
  const judged: (Step | Unmerged | string)[] = []
  const files = new Map<string, RepoPath>()
  for (const [number, change] of changes.entries()) {
    judged.push(await stepFor(change, { folder, kept: join(scratch, `found-${number}`), files }))
  }
  const unmerged = judged.filter((file) => typeof file === 'object' && 'sides' in file)
  const sides = unmerged.map((file) => file.sides)
  const merged = await mergeFiles(sides, { repository: join(scratch, 'merging'), searchPath })
  const answers = new Map(unmerged.map((file, at) => [file, merged[at] ?? { places: [] }]))
  const steps: Step[] = []
  const refused: RefusedFile[] = []
  for (const [at, change] of changes.entries()) {
    const judgement = judged[at] ?? 'cannot be read'
    const isOpen = typeof judgement === 'object' && 'sides' in judgement
    const result = isOpen ? await stepOf(judgement, answers.get(judgement) ?? { places: [] }) : judgement
    if (typeof result === 'string') refused.push({ path: change.path, why: result, places: [] })
    else if ('places' in result) refused.push({ path: change.path, why: whyNot(result.places), ...result })
    else steps.push(result)
  }
  if (refused.length === 0) return steps
  const which = refused.length === 1 ? 'one file does' : `${refused.length} files do`
  const lines = [...refused.map(({ path, why }) => `${path}: ${why}`), ...((await describe?.(refused)) ?? [])]
  throw new AppError('WORK_002', `nothing was written, because ${which} not take the changes:\n${lines.join('\n')}`)
}

type Unmerged = { step: Omit<Step, 'result'>; sides: ThreeSides }

async function stepOf({ step, sides }: Unmerged, merged: MergedFile): Promise<Step | Unmergeable> {
  if ('places' in merged) return merged
  const content = merged.file
  const isThere = await hasBytes(await readFile(content), sides.current)
  const isChanged = !isThere || step.newMode !== step.mode
  return isChanged ? { ...step, content, result: 'merged' } : { ...step, result: 'there' }
}

function whyNot(places: readonly CollidingPlace[]): string {
  if (places.length === 0) return 'it has changed since in the same lines or right beside them, or it is no text'
  const lines = places.slice(0, namedLines).map(({ line }) => line)
  const more = places.length > lines.length ? ' and others' : ''
  return `it has changed since in the same lines or right beside them: line${lines.length > 1 ? 's' : ''} ${lines.join(', ')}${more}`
}

const namedLines = 5

/** `kept`: where the bytes that are found are kept. `files`: the paths of those that were found before, by device and inode. */
type Place = { folder: string; kept: string; files: Map<string, RepoPath> }

async function stepFor(change: ChangedFile, { folder, kept, files }: Place): Promise<Step | Unmerged | string> {
  const { path, before, after } = change
  const stats = await findFile(folder, path)
  if (typeof stats === 'string') return stats
  if (stats === null) return stepWhereNothingIs(change)
  const inode = `${stats.dev}:${stats.ino}`
  const same = files.get(inode)
  if (same !== undefined) return `it is the same file here as ${same}`
  files.set(inode, path)
  const bytes = await readUnlinked(join(folder, path))
  if (bytes === undefined) return 'cannot be read'
  await writeFile(kept, bytes)
  const mode = stats.mode & 0o7777
  const newMode = change.changesMode ? withExecution(mode, change.executable) : mode
  const step = { path, current: kept, content: kept, mode, newMode, isResult: false }
  if (await hasBytes(bytes, after)) {
    const isResult = newMode === mode
    return { ...step, result: isResult ? 'there' : 'changed', isResult }
  }
  if (after === null) {
    return (await hasBytes(bytes, before))
      ? { ...step, content: null, result: 'deleted' }
      : 'the run deletes it, and it has changed since'
  }
  const isBefore = before !== null && (await hasBytes(bytes, before))
  if (isBefore || (await hasSomeTests(bytes, change))) return { ...step, content: after, result: 'changed' }
  if (before === null) return 'the run creates it, and there is another file with that name'
  return { step, sides: { current: kept, before, after } }
}

/** Is true when a file of tests has some of those that the run adds, which were applied before, and nothing else that is new. */
async function hasSomeTests(bytes: Uint8Array, { path, before, after }: ChangedFile): Promise<boolean> {
  if (after === null || !takesTests(path) || !addsOnly(bytes, await readFile(after))) return false
  return before === null || addsOnly(await readFile(before), bytes)
}

/** Is true when the second text has all of the first one, in its order. */
function addsOnly(left: Uint8Array, right: Uint8Array): boolean {
  return editsBetween(left, right).every(({ start, end }) => start === end)
}

/** Lets those who may read the file run it, as git sets it, or nobody. */
export function withExecution(mode: number, executable: boolean): number {
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111
}

function stepWhereNothingIs({ path, before, after, executable }: ChangedFile): Step | string {
  const newMode = executable ? 0o755 : undefined
  const step = { path, current: null, content: after, mode: undefined, newMode, isResult: after === null }
  if (after === null) return { ...step, result: 'there' }
  return before === null ? { ...step, result: 'created' } : 'there is no such file any more'
}

/** Returns the file at `path`, null for nothing, or why it cannot be written. No link on the way is followed. */
export async function findFile(folder: string, path: RepoPath): Promise<Stats | null | string> {
  const names = path.split('/')
  for (const [index] of names.entries()) {
    const inside = names.slice(0, index + 1).join('/')
    const what = inside === path ? 'it' : inside
    const stats = await lstat(join(folder, inside)).catch((error: unknown) => codeOf(error))
    if (stats === 'ENOENT') return null
    if (typeof stats === 'string') return `${what} cannot be read: ${stats}`
    if (stats.isSymbolicLink()) return `${what} is a link`
    if (inside === path) return stats.isFile() ? stats : 'it is no regular file'
    if (!stats.isDirectory()) return `${what} is no folder`
  }
  return null
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

/** Undefined where a link has taken the file's place, or it cannot be read. */
export async function readUnlinked(path: string): Promise<Uint8Array | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    return await file.readFile()
  } catch {
    return undefined
  }
}

async function hasBytes(bytes: Uint8Array, file: string | null): Promise<boolean> {
  return file !== null && Buffer.compare(bytes, await readFile(file)) === 0
}
