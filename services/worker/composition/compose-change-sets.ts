import type { ChangeSet, Edit, FileChange } from '#domain/change-set.ts'
import { composeEdits } from '#domain/compose-edits.ts'
import type { Conflict } from '#objects/composition.ts'

/** What is to become of one file: edits on its base blob, or a new content, or nothing at all. */
export type FileResult = { path: string; sets: ChangeSet[] } & (
  | { kind: 'edit'; baseHash: string; edits: Edit[] }
  | { kind: 'create'; content: string }
  | { kind: 'delete'; baseHash: string }
)

/** Bytes of the base file: `start` included, `end` not. */
export type ByteRange = { start: number; end: number }

/** A change set by its ids, and the bytes of the conflict's file that it changes; absent unless it edits that file. */
export type SetInConflict = { changeSetId: string; operationId: string; bytes?: ByteRange }

/** A change set that is not in the composed files, and the one that keeps it out; `nameConflicts` says who made them. */
export type LeftOutSet = SetInConflict & {
  path: string
  errorCode: Conflict['errorCode']
  reason: string
  with?: SetInConflict
}

export type Composed = { files: FileResult[]; conflicts: LeftOutSet[] }

/**
 * Puts change sets together, in the order given. Each composes whole or not at all: one that collides with a set before
 * it, in any of its files, is left out and shown as a conflict (WORK_001). Pure; files come sorted by path.
 */
export function composeChangeSets(sets: readonly ChangeSet[]): Composed {
  const files = new Map<string, FileResult>()
  const conflicts: LeftOutSet[] = []
  for (const set of sets) {
    const joined = set.files.map((change) => inWay(files, change) ?? join(files.get(change.path), change, set))
    const collision = joined.find((answer) => answer.kind === 'conflict')
    if (collision !== undefined) conflicts.push(conflictOf(set, collision))
    else for (const answer of joined) if (answer.kind === 'joined') files.set(answer.file.path, answer.file)
  }
  return { files: [...files.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1)), conflicts }
}

type Collision = { kind: 'conflict'; path: string; reason: string; bytes?: ByteRange; with?: SetInConflict }
type Joined = { kind: 'joined'; file: FileResult } | Collision

/** A created file and a created folder of one name cannot both be. */
function inWay(files: ReadonlyMap<string, FileResult>, { path, kind }: FileChange): Collision | undefined {
  if (kind !== 'create') return undefined
  const other = [...files.values()].find(
    (held) => held.kind === 'create' && (held.path.startsWith(`${path}/`) || path.startsWith(`${held.path}/`)),
  )
  if (other === undefined) return undefined
  return { kind: 'conflict', path, reason: `another change set creates ${other.path}`, ...withFirst(other) }
}

function join(held: FileResult | undefined, change: FileChange, set: ChangeSet): Joined {
  if (held === undefined) return { kind: 'joined', file: { ...change, sets: [set] } }
  const sets = [...held.sets, set]
  const conflict = (reason: string): Joined => ({ kind: 'conflict', path: change.path, reason, ...withFirst(held) })
  if (held.kind === 'edit' && change.kind === 'edit') {
    if (held.baseHash !== change.baseHash) return conflict('made from another version of the file')
    const answer = composeEdits(held.edits, change.edits)
    if (answer.kind === 'composed') return { kind: 'joined', file: { ...held, edits: answer.edits, sets } }
    const isHeld = held.edits.includes(answer.at)
    const [ownEdit, heldEdit] = isHeld ? [answer.with, answer.at] : [answer.at, answer.with]
    return overlap(held, ownEdit, heldEdit)
  }
  const isSame =
    (held.kind === 'create' && change.kind === 'create' && held.content === change.content) ||
    (held.kind === 'delete' && change.kind === 'delete')
  return isSame
    ? { kind: 'joined', file: { ...held, sets } }
    : conflict(`one change set would ${held.kind} the file, another ${change.kind} it`)
}

function overlap(held: FileResult, ownEdit: Edit, heldEdit: Edit): Collision {
  const { path, sets } = held
  const other = sets.find((set) => editsAt(set, path).some((edit) => isSameRange(edit, heldEdit)))
  const reason = 'another change set changes the same place'
  const against = other && { with: { ...idsOf(other), bytes: rangeOf(heldEdit) } }
  return { kind: 'conflict', path, reason, bytes: rangeOf(ownEdit), ...against }
}

/** The bytes of the base file from the first edit of `set` there to the last; undefined unless it edits the file. */
export function editedBytes(set: ChangeSet, path: string): ByteRange | undefined {
  const edits = editsAt(set, path)
  const [first, last] = [edits.at(0), edits.at(-1)]
  return first === undefined || last === undefined ? undefined : { start: first.start, end: last.end }
}

function editsAt(set: ChangeSet, path: string): readonly Edit[] {
  const change = set.files.find((file) => file.path === path)
  return change?.kind === 'edit' ? change.edits : []
}

function isSameRange(one: Edit, other: Edit): boolean {
  return one.start === other.start && one.end === other.end
}

function rangeOf({ start, end }: Edit): ByteRange {
  return { start, end }
}

function idsOf({ changeSetId, operationId }: ChangeSet): SetInConflict {
  return { changeSetId, operationId }
}

function withFirst({ sets }: FileResult): { with?: SetInConflict } {
  const [first] = sets
  return first === undefined ? {} : { with: idsOf(first) }
}

function conflictOf(set: ChangeSet, { kind: _kind, ...collision }: Collision): LeftOutSet {
  return { ...idsOf(set), errorCode: 'WORK_001', ...collision }
}
