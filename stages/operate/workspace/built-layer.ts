import type { FileResult } from '#change-sets/changes-at-path.ts'
import { composeChangeSets } from '#change-sets/compose-change-sets.ts'
import { applyEdits, type ChangeSet, composeEdits, type Edit, type FileChange, isSameEdit } from '#domain/change-set.ts'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { rebaseEdits } from '#domain/rebase-edits.ts'
import type { RepoPath } from '#domain/repo-path.ts'
import type { BaseLayer } from './base-layer.ts'
import { openOverlay } from './overlay.ts'

/** A snapshot with the change sets of other operations on it: what an operation that waited for these starts from. */
export type BuiltLayer = BaseLayer & {
  /** Lists those that it has. A set that collides with an earlier one is left out. */
  sets: readonly ChangeSet[]
  paths: readonly RepoPath[]
  changed(path: string): ChangedFile | undefined
  /** Turns changes of this layer into changes of the snapshot. WORK_001 for one that undoes what a set does to a whole file. */
  onSnapshot(changes: readonly FileChange[]): SnapshotChanges
}

/** `edits`: of the file in the snapshot; none for one that is created or deleted. */
export type ChangedFile = { before: Uint8Array | undefined; after: Uint8Array | undefined; edits: readonly Edit[] }

/** `replaced`: the ids of the sets of which a change replaces an edit or a whole file. */
export type SnapshotChanges = { files: FileChange[]; replaced: ReadonlySet<string> }

type BuiltFile = ChangedFile & { result: FileResult; hash: string; executable: boolean; wasExecutable: boolean }

export async function openBuiltLayer(base: BaseLayer, sets: readonly ChangeSet[]): Promise<BuiltLayer> {
  const { files: results, conflicts } = composeChangeSets(sets)
  const files = new Map<string, BuiltFile & { path: RepoPath }>()
  const contents = new Map<string, Uint8Array>()
  const names = openOverlay(base)
  for (const result of results) {
    const file = await builtFile(result, base)
    files.set(file.path, file)
    if (file.after === undefined) names.delete(file.path)
    else names.write(file.path, '', file.executable)
    if (file.after !== undefined) contents.set(file.hash, file.after)
  }
  const leftOut = new Set(conflicts.map(({ changeSetId }) => changeSetId))
  return {
    sets: sets.filter(({ changeSetId }) => !leftOut.has(changeSetId)),
    paths: [...files.values()].map(({ path }) => path),
    changed: (path) => files.get(path),
    find(path) {
      const file = files.get(path)
      if (file === undefined) return base.find(path)
      return file.after === undefined ? undefined : { hash: file.hash, executable: file.executable }
    },
    kindAt: names.kindAt,
    list: names.list,
    read: async (hash) => contents.get(hash) ?? base.read(hash),
    onSnapshot(changes) {
      const replaced = new Set<string>()
      const changed = changes.map((change) => onSnapshot(change, files.get(change.path), replaced))
      return { files: changed, replaced }
    },
  }
}

async function builtFile(result: FileResult, base: BaseLayer): Promise<BuiltFile & { path: RepoPath }> {
  const { path } = result
  const file = base.find(path)
  const before = file === undefined ? undefined : await base.read(file.hash)
  const wasExecutable = file?.executable ?? false
  const of = { path, result, before, executable: result.executable ?? wasExecutable, wasExecutable }
  if (result.kind === 'delete') return { ...of, after: undefined, edits: [], hash: '' }
  const after =
    result.kind === 'create' ? Buffer.from(result.content) : applyEdits(before ?? new Uint8Array(), result.edits)
  return { ...of, after, edits: result.kind === 'edit' ? result.edits : [], hash: sha256(after) }
}

function onSnapshot(change: FileChange, file: BuiltFile | undefined, replaced: Set<string>): FileChange {
  if (file === undefined) return change
  const { result, before, wasExecutable } = file
  if (result.kind === 'edit' && change.kind === 'edit') return editOnSnapshot(change, { ...file, result }, replaced)
  for (const { changeSetId } of result.sets) replaced.add(changeSetId)
  const { path } = change
  if (result.kind === 'create' && change.kind === 'edit') {
    const content = Buffer.from(applyEdits(file.after ?? new Uint8Array(), change.edits)).toString()
    const executable = change.executable ?? file.executable
    return { kind: 'create', path, content, ...(executable ? { executable } : {}) }
  }
  if (result.kind === 'edit' && change.kind === 'delete') {
    const { kind } = change
    return { kind, path, baseHash: result.baseHash, ...(wasExecutable ? { executable: true } : {}) }
  }
  if (result.kind === 'delete' && change.kind === 'create' && before !== undefined) {
    // One edit of the whole file, so that it replaces every earlier one.
    const edits = [{ start: 0, end: before.length, text: change.content }]
    const executable = change.executable ?? false
    const bit = executable === wasExecutable ? {} : { executable }
    return { kind: 'edit', path, baseHash: result.baseHash, edits, ...bit }
  }
  throw undoes(change)
}

type EditResult = Extract<FileResult, { kind: 'edit' }>

/** A bit that the change does not touch stays that of the sets that have set it; one that it puts back is that of the snapshot. */
function editOnSnapshot(
  change: Extract<FileChange, { kind: 'edit' }>,
  { result, after }: BuiltFile & { result: EditResult },
  replaced: Set<string>,
): FileChange {
  const rebased = rebaseEdits(result.edits, change.edits, after ?? new Uint8Array())
  const editsOf = ({ files }: ChangeSet) => {
    return files.flatMap((file) => (file.kind === 'edit' && file.path === change.path ? file.edits : []))
  }
  const isLive = (edit: Edit) => result.edits.some((live) => isSameEdit(live, edit))
  // An edit that another set has replaced: a change at the same place is built on both of these sets.
  const isBeside = (edit: Edit) =>
    !isLive(edit) &&
    rebased.edits.some((made) => isSamePlace(made, edit)) &&
    !rebased.replaced.some((gone) => isWithin(edit, gone))
  const places = result.sets.flatMap(editsOf).filter(isBeside)
  // Where the file was deleted and made anew, an edit of it is none of the file that it was before.
  const isAnew = result.sets.some(({ files }) =>
    files.some(({ kind, path }) => kind === 'delete' && path === change.path),
  )
  for (const set of result.sets) {
    const edits = editsOf(set)
    const isReplaced = edits.some((edit) => rebased.replaced.some((gone) => isSameEdit(gone, edit)))
    const isAtPlace = edits.some((edit) => places.some((place) => isWithin(place, edit)))
    const setsBit = change.executable !== undefined && statesBit(set, change.path)
    if (isAnew || isReplaced || isAtPlace || setsBit) replaced.add(set.changeSetId)
  }
  return { ...change, baseHash: result.baseHash, edits: rebased.edits }
}

function statesBit({ files }: ChangeSet, path: string): boolean {
  return files.some((file) => file.path === path && file.executable !== undefined)
}

function isSamePlace(left: Edit, right: Edit): boolean {
  return composeEdits([left], [right]).kind === 'conflict' || isSameEdit(left, right)
}

function isWithin({ start, end }: Edit, other: Edit): boolean {
  return other.start <= start && end <= other.end
}

/** No change of the snapshot says that a file is not created after all, or not deleted. */
function undoes({ kind, path }: FileChange): AppError {
  const done = kind === 'delete' ? 'creates it' : 'deletes it'
  const message = `it would ${kind} ${path}, which only undoes that a change it starts from ${done}`
  return new AppError('WORK_001', message, { phase: 'submission' })
}
