import { type ChangeSet, composeEdits, type Edit, type FileChange, isSameEdit, isSameFile } from '#domain/change-set.ts'
import { joinImports, joinTests } from './join-tests.ts'
import { takesTests } from './test-text.ts'

/** `executable` is that of a `FileChange`. */
export type FileResult = { path: string; sets: ChangeSet[]; executable?: boolean | undefined } & (
  | { kind: 'edit'; baseHash: string; edits: Edit[] }
  | { kind: 'create'; content: string }
  | { kind: 'delete'; baseHash: string }
)

/** Bytes of the base file: `start` included, `end` not. */
export type ByteRange = { start: number; end: number }

/** A change set by its ids. `bytes` is what it changes in the file of the conflict, if it edits that. */
export type SetInConflict = { changeSetId: string; operationId: string; bytes?: ByteRange }

export type Collision = { path: string; reason: string; bytes?: ByteRange; with?: SetInConflict }

/** Pairs a change set with what it does at one path. */
export type OwnChange = { set: ChangeSet; change: FileChange }

/** Holds what change sets that compose do at one path, by their ids. */
export type ChangesAtPath = ReadonlyMap<string, OwnChange>

/** Says why a change cannot be at its path with those there, in whatever order two are added. A replaced change still has its place. */
export function collisionAt(held: ChangesAtPath, added: OwnChange): Collision | undefined {
  for (const holder of held.values()) {
    const collision = collide(holder, added, held)
    if (collision !== undefined) return collision
  }
  return undefined
}

function collide(held: OwnChange, added: OwnChange, all: ChangesAtPath): Collision | undefined {
  if (areApart(held.change, added.change)) return undefined
  const [theirs, own] = [leftBeside(held, added, all), leftBeside(added, held, all)]
  const left = theirs && own && clash({ set: held.set, change: theirs }, { set: added.set, change: own })
  if (left !== undefined) return left
  // Nothing collides if one of the two replaces the other. If each replaces the other, both would be gone: that is a collision.
  const [theirLoss, ownLoss] = [lossOf(held.change, theirs), lossOf(added.change, own)]
  return theirLoss && ownLoss && clash({ set: held.set, change: theirLoss }, { set: added.set, change: ownLoss })
}

function clash({ set, change: other }: OwnChange, { set: addedSet, change: own }: OwnChange): Collision | undefined {
  if (isSame(other, own)) return undefined
  const { path } = own
  const ofFile = { path, ...bytesOf(addedSet, path), with: inConflict(set, path) }
  if (other.kind === 'create' && own.kind === 'create' && takesTests(path)) {
    const joined = joinTests(path, [other.content, own.content])
    if (joined.kind === 'apart') return { ...ofFile, reason: `two change sets create the file, and ${joined.reason}` }
    return haveOtherBits(other, own) ? { ...ofFile, reason: otherMode } : undefined
  }
  if (other.kind !== 'edit' || own.kind !== 'edit') {
    return { ...ofFile, reason: `one change set would ${other.kind} the file, another ${own.kind} it` }
  }
  if (other.baseHash !== own.baseHash) return { ...ofFile, reason: 'made from another version of the file' }
  if (haveOtherBits(other, own)) return { ...ofFile, reason: otherMode }
  const answer = composeEdits(other.edits, own.edits, { isAddedTo: takesTests(path) })
  if (answer.kind === 'composed') return undefined
  const [theirs, ours] = other.edits.includes(answer.at) ? [answer.at, answer.with] : [answer.with, answer.at]
  const reason = 'another change set changes the same place'
  return { path, reason, bytes: rangeOf(ours), with: { ...idsOf(set), bytes: rangeOf(theirs) } }
}

const otherMode = 'another change set gives the file another mode'

/** Returns the part of a change that is missing from what is left of it. */
function lossOf(change: FileChange, left: FileChange | undefined): FileChange | undefined {
  if (change.kind !== 'edit' || left?.kind !== 'edit') return left === undefined ? change : undefined
  const edits = change.edits.filter((edit) => !left.edits.includes(edit))
  const executable = left.executable === undefined ? change.executable : undefined
  return edits.length === 0 && executable === undefined ? undefined : { ...change, edits, executable }
}

function haveOtherBits(left: FileChange, right: FileChange): boolean {
  return left.executable !== undefined && right.executable === !left.executable
}

/** Most changes of a large file: the one ends before the other starts, and they do not state different modes. */
export function areApart(left: FileChange, right: FileChange): boolean {
  if (left.kind !== 'edit' || right.kind !== 'edit' || left.baseHash !== right.baseHash) return false
  if (haveOtherBits(left, right)) return false
  const endsBefore = (first: readonly Edit[], second: readonly Edit[]) =>
    (first.at(-1)?.end ?? 0) < (second[0]?.start ?? Infinity)
  return endsBefore(left.edits, right.edits) || endsBefore(right.edits, left.edits)
}

/** Returns what is left of a change beside `by`, which replaces changes of the sets that it is built on. Undefined: nothing is left. */
function leftBeside({ set, change }: OwnChange, by: OwnChange, all: ChangesAtPath): FileChange | undefined {
  const { builtOn = [] } = by.set
  if (builtOn.length === 0 || isBuiltOn(set, by.set.changeSetId)) return change
  const theirs = builtOn.includes(set.changeSetId)
    ? [change]
    : builtOn.flatMap((id) => (isBuiltOn(set, id) ? [] : (all.get(id)?.change ?? [])))
  return theirs.length === 0 ? change : withoutReplaced(change, by.change, theirs)
}

function withoutReplaced(change: FileChange, by: FileChange, theirs: readonly FileChange[]): FileChange | undefined {
  if (change.kind !== 'edit') {
    return !isSame(change, by) && theirs.some((theirChange) => isSame(theirChange, change)) ? undefined : change
  }
  const edited = theirs.filter((theirChange) => theirChange.kind === 'edit')
  const theirEdits = edited.flatMap((theirChange) => theirChange.edits)
  const edits = change.edits.filter(
    (edit) => !(isReplacedBy(by, edit) && theirEdits.some((same) => isSameEdit(same, edit))),
  )
  // An edit without a bit leaves that of the file as it found it.
  const replacesBit = by.kind !== 'edit' || (by.executable !== undefined && by.executable !== change.executable)
  const losesBit = replacesBit && edited.some((theirChange) => theirChange.executable === change.executable)
  const executable = losesBit ? undefined : change.executable
  return edits.length === 0 && executable === undefined ? undefined : { ...change, edits, executable }
}

function isReplacedBy(by: FileChange, edit: Edit): boolean {
  if (by.kind !== 'edit') return true
  return by.edits.some((own) => own.start <= edit.start && edit.end <= own.end && !isSameEdit(own, edit))
}

/** Is true for two whole files, created or deleted, that are the same; edits never are. */
function isSame(left: FileChange, right: FileChange): boolean {
  if (left.kind === 'create') return right.kind === 'create' && isSameFile(left, right)
  return left.kind === 'delete' && right.kind === 'delete'
}

function isBuiltOn({ builtOn }: Pick<ChangeSet, 'builtOn'>, changeSetId: string): boolean {
  return builtOn?.includes(changeSetId) ?? false
}

/** Returns what changes that compose come to; undefined where they leave the file as it was. */
export function resultAt(held: ChangesAtPath): FileResult | undefined {
  const all = [...held.values()]
  const replacing = all.filter(({ set }) => set.builtOn !== undefined)
  const left = all.flatMap(({ set, change }): FileChange[] => {
    let rest: FileChange | undefined = change
    for (const by of replacing) rest = rest && leftBeside({ set, change: rest }, by, held)
    return rest === undefined ? [] : [rest]
  })
  const [first] = left
  if (first === undefined) return undefined
  const sets = all.map(({ set }) => set)
  if (first.kind === 'create') return { ...first, sets, content: createdBy(first.path, left) }
  if (first.kind === 'delete') return { ...first, sets }
  const edits = left.flatMap((theirChange) => (theirChange.kind === 'edit' ? theirChange.edits : []))
  const answer = composeEdits(edits, [], { isAddedTo: takesTests(first.path) })
  if (answer.kind === 'conflict') throw new Error(`edits of ${first.path} that were held collide`)
  const joined = takesTests(first.path) ? joinImports(first.path, answer.edits) : answer.edits
  return { ...first, sets, edits: joined, executable: changedBit(all, left) }
}

function createdBy(path: string, left: readonly FileChange[]): string {
  const texts = left.flatMap((change) => (change.kind === 'create' ? change.content : []))
  const joined = joinTests(path, texts)
  if (joined.kind === 'apart') throw new Error(`texts of ${path} that were held collide: ${joined.reason}`)
  return joined.text
}

/** Returns the bit that is left, unless it is that of the base: then the first to state one, built on no other that does, states another. */
function changedBit(all: readonly OwnChange[], left: readonly FileChange[]): boolean | undefined {
  const first = all.find(({ change }) => change.kind === 'edit' && change.executable !== undefined)
  const result = left.find((theirChange) => theirChange.executable !== undefined)?.executable
  return result === first?.change.executable ? result : undefined
}

export function inConflict(set: ChangeSet, path: string): SetInConflict {
  return { ...idsOf(set), ...bytesOf(set, path) }
}

function idsOf({ changeSetId, operationId }: ChangeSet): SetInConflict {
  return { changeSetId, operationId }
}

/** Returns the bytes of the base file from the set's first edit to its last; nothing unless it edits the file. */
function bytesOf(set: ChangeSet, path: string): { bytes?: ByteRange } {
  const change = set.files.find((file) => file.path === path)
  const edits = change?.kind === 'edit' ? change.edits : []
  const [first, last] = [edits.at(0), edits.at(-1)]
  return first === undefined || last === undefined ? {} : { bytes: { start: first.start, end: last.end } }
}

function rangeOf({ start, end }: Edit): ByteRange {
  return { start, end }
}
