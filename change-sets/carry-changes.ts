import { type ChangeSet, composeEdits, type Edit, type FileChange } from '#domain/change-set.ts'
import { changeSetId } from '#domain/ids.ts'
import { neededFirst } from './independent-groups.ts'
import { editsBetween } from './edits-between.ts'

export type CarryFiles = {
  /** The bytes that a change set was made for. */
  readBase(hash: string): Promise<Uint8Array>
  /** The file as it is now; undefined: there is none. */
  readNow(path: string): Promise<{ hash: string; bytes(): Promise<Uint8Array> } | undefined>
}

/** `of`: the set that was carried, which has another id where its file has changed. */
export type CarriedSet = { set: ChangeSet; of: string }

/**
 * Turns change sets of an earlier commit into edits of a newer one, as git merges them. A set is lost where the same lines, or its file,
 * have changed since, and with it what is built on it.
 */
export async function carryChanges(
  sets: readonly ChangeSet[],
  files: CarryFiles,
): Promise<{ carried: CarriedSet[]; lost: string[] }> {
  const carried = new Map<string, CarriedSet>()
  const lost: string[] = []
  for (const set of neededFirst(sets)) {
    const moved = await moveSet(set, carried, files)
    if (moved === undefined) lost.push(set.changeSetId)
    else carried.set(set.changeSetId, { set: moved, of: set.changeSetId })
  }
  return { carried: [...carried.values()], lost }
}

async function moveSet(
  set: ChangeSet,
  carried: ReadonlyMap<string, CarriedSet>,
  files: CarryFiles,
): Promise<ChangeSet | undefined> {
  const { builtOn: before = [], ...same } = set
  const builtOn = before.flatMap((id) => carried.get(id)?.set.changeSetId ?? [])
  if (builtOn.length < before.length) return undefined
  const moved = await Promise.all(set.files.map((file) => moveFile(file, files)))
  const there = moved.filter((file) => file !== undefined)
  if (there.length < moved.length) return undefined
  const needs = builtOn.length === 0 ? {} : { builtOn }
  return { ...same, ...needs, files: there, changeSetId: changeSetId(set.operationId, there, builtOn) }
}

async function moveFile(file: FileChange, { readBase, readNow }: CarryFiles): Promise<FileChange | undefined> {
  const now = await readNow(file.path)
  if (file.kind === 'create') return now === undefined ? file : undefined
  if (now === undefined) return undefined
  if (now.hash === file.baseHash) return file
  if (file.kind === 'delete') return undefined
  const theirs = await editsOf(await readBase(file.baseHash), await now.bytes())
  const isApart = theirs !== undefined && composeEdits(theirs, file.edits).kind === 'composed'
  if (!isApart || file.edits.some((edit) => touches(edit, theirs))) return undefined
  return { ...file, baseHash: now.hash, edits: file.edits.map((edit) => shifted(edit, theirs)) }
}

/** Undefined for a file that is no text any more. */
async function editsOf(base: Uint8Array, now: Uint8Array): Promise<Edit[] | undefined> {
  try {
    return editsBetween(base, now)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Is true for an edit at the border of another one, or the same one: nobody could say what both of them together mean. */
function touches({ start, end }: Edit, others: readonly Edit[]): boolean {
  return others.some((other) => other.start <= end && start <= other.end)
}

function shifted(edit: Edit, before: readonly Edit[]): Edit {
  let shift = 0
  for (const earlier of before)
    if (earlier.end <= edit.start) shift += Buffer.byteLength(earlier.text) - (earlier.end - earlier.start)
  return { ...edit, start: edit.start + shift, end: edit.end + shift }
}
