import { type ChangeSet, composeEdits, type Edit, type FileChange } from '#domain/change-set.ts'
import type { Conflict, ConflictingSet, LineRange } from '#objects/composition.ts'
import type { CodeNode } from '#domain/code-node.ts'

export type FileResult = { path: string; sets: ChangeSet[] } & (
  | { kind: 'edit'; baseHash: string; edits: Edit[] }
  | { kind: 'create'; content: string }
  | { kind: 'delete'; baseHash: string }
)

/** Bytes of the base file: `start` included, `end` not. */
type ByteRange = { start: number; end: number }

/** A change set by its ids. `bytes` is what it changes in the file of the conflict, if it edits that. */
export type SetInConflict = { changeSetId: string; operationId: string; bytes?: ByteRange }

/** A change set that is left out of the composed files; `with` is the one that it is in conflict with. */
export type LeftOutSet = SetInConflict & {
  path: string
  errorCode: Conflict['errorCode']
  reason: string
  with?: SetInConflict
}

export type Composed = { files: FileResult[]; conflicts: LeftOutSet[] }

/**
 * Composes change sets in the given order, each as a whole or not at all: one that collides with an earlier set, in any
 * of its files, is left out as a conflict (WORK_001). The files are sorted by path.
 */
export function composeChangeSets(sets: readonly ChangeSet[]): Composed {
  const files = new Map<string, FileResult>()
  const conflicts: LeftOutSet[] = []
  for (const set of sets) {
    const joined = set.files.map((change) => pathClash(files, change) ?? join(files.get(change.path), change, set))
    const collision = joined.find((answer) => answer.kind === 'conflict')
    if (collision !== undefined) conflicts.push(conflictOf(set, collision))
    else for (const file of joined) if (file.kind !== 'conflict') files.set(file.path, file)
  }
  return { files: [...files.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1)), conflicts }
}

/**
 * The sets in groups that compose apart from each other: those that change one file, or create a file and a folder with
 * the same path, are in one group. Groups come in the order of their first sets, the sets of each in the given order.
 */
export function independentGroups(sets: readonly ChangeSet[]): ChangeSet[][] {
  const changes = sets.flatMap((set) => set.files)
  const created = new Set(changes.flatMap(({ kind, path }) => (kind === 'create' ? [path] : [])))
  const linked = new Map<string, string>()
  const rootOf = (path: string) => {
    let root = path
    for (let next = linked.get(root); next !== undefined; next = linked.get(root)) root = next
    if (root !== path) linked.set(path, root)
    return root
  }
  const link = (path: string, other: string) => {
    const [root, otherRoot] = [rootOf(path), rootOf(other)]
    if (root !== otherRoot) linked.set(otherRoot, root)
  }
  const firstPath = ({ files: [first] }: ChangeSet) => first?.path ?? ''
  for (const set of sets) for (const { path } of set.files) link(firstPath(set), path)
  for (const path of created) for (const folder of foldersOf(path)) if (created.has(folder)) link(path, folder)
  return [...Map.groupBy(sets, (set) => rootOf(firstPath(set))).values()]
}

function foldersOf(path: string): string[] {
  return Array.from(path.matchAll(/\//g), ({ index }) => path.slice(0, index))
}

type Collision = { kind: 'conflict' } & Pick<LeftOutSet, 'path' | 'reason' | 'bytes' | 'with'>

/** A created file and a created folder cannot have the same path. */
function pathClash(files: ReadonlyMap<string, FileResult>, { path, kind }: FileChange): Collision | undefined {
  if (kind !== 'create') return undefined
  const other = [...files.values()].find(
    (held) => held.kind === 'create' && (held.path.startsWith(`${path}/`) || path.startsWith(`${held.path}/`)),
  )
  if (other === undefined) return undefined
  return { kind: 'conflict', path, reason: `another change set creates ${other.path}`, ...withFirst(other) }
}

function join(held: FileResult | undefined, change: FileChange, set: ChangeSet): FileResult | Collision {
  if (held === undefined) return { ...change, sets: [set] }
  const sets = [...held.sets, set]
  const conflict = (reason: string): Collision => ({ kind: 'conflict', path: change.path, reason, ...withFirst(held) })
  if (held.kind === 'edit' && change.kind === 'edit') {
    if (held.baseHash !== change.baseHash) return conflict('made from another version of the file')
    const answer = composeEdits(held.edits, change.edits)
    if (answer.kind === 'composed') return { ...held, edits: answer.edits, sets }
    const isHeld = held.edits.includes(answer.at)
    const [ownEdit, heldEdit] = isHeld ? [answer.with, answer.at] : [answer.at, answer.with]
    return overlap(held, ownEdit, heldEdit)
  }
  const isSame =
    (held.kind === 'create' && change.kind === 'create' && held.content === change.content) ||
    (held.kind === 'delete' && change.kind === 'delete')
  return isSame ? { ...held, sets } : conflict(`one change set would ${held.kind} the file, another ${change.kind} it`)
}

function overlap({ path, sets }: FileResult, ownEdit: Edit, { start, end }: Edit): Collision {
  const other = sets.find((set) => editsAt(set, path).some((edit) => edit.start === start && edit.end === end))
  const against = other && { with: { ...idsOf(other), bytes: { start, end } } }
  const bytes = { start: ownEdit.start, end: ownEdit.end }
  return { kind: 'conflict', path, reason: 'another change set changes the same place', bytes, ...against }
}

/** The bytes of the base file from the set's first edit to its last; undefined unless it edits the file. */
export function editedBytes(set: ChangeSet, path: string): ByteRange | undefined {
  const edits = editsAt(set, path)
  const [first, last] = [edits.at(0), edits.at(-1)]
  return first === undefined || last === undefined ? undefined : { start: first.start, end: last.end }
}

function editsAt(set: ChangeSet, path: string): readonly Edit[] {
  const change = set.files.find((file) => file.path === path)
  return change?.kind === 'edit' ? change.edits : []
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

type NamingDeps = {
  sets: readonly ChangeSet[]
  nodes: ReadonlyMap<string, Pick<CodeNode, 'path' | 'qualifiedName'>>
  readBlob(hash: string): Promise<Uint8Array>
}

/** Adds agent, code and changed lines to each set that was left out, and to the one it is in conflict with. */
export async function nameConflicts(leftOut: readonly LeftOutSet[], deps: NamingDeps): Promise<Conflict[]> {
  if (leftOut.length === 0) return []
  const sets = new Map(deps.sets.map((set) => [set.changeSetId, set]))
  const conflicts: Conflict[] = []
  for (const one of leftOut) {
    const change = sets.get(one.changeSetId)?.files.find((file) => file.path === one.path)
    const base = change?.kind === 'edit' ? await deps.readBlob(change.baseHash) : undefined
    const named = (set: SetInConflict) => nameSet(set, base, { sets, nodes: deps.nodes })
    const { path, errorCode, reason, with: other } = one
    conflicts.push({ ...named(one), path, errorCode, reason, ...(other === undefined ? {} : { with: named(other) }) })
  }
  return conflicts
}

export function conflictsByAgent(conflicts: readonly Conflict[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const { agent = '' } of conflicts) counts.set(agent, (counts.get(agent) ?? 0) + 1)
  return Object.fromEntries(counts)
}

function nameSet(
  { changeSetId, operationId, bytes }: SetInConflict,
  base: Uint8Array | undefined,
  { sets, nodes }: { sets: ReadonlyMap<string, ChangeSet>; nodes: NamingDeps['nodes'] },
): ConflictingSet {
  const agent = sets.get(changeSetId)?.bundle
  const node = nodes.get(operationId)
  return {
    changeSetId,
    operationId,
    ...(agent === undefined ? {} : { agent }),
    ...(node === undefined ? {} : { node: { path: node.path, qualifiedName: node.qualifiedName } }),
    ...(bytes === undefined || base === undefined ? {} : { lines: linesOf(base, bytes) }),
  }
}

const newline = 10

/** Inserted text counts as on the line where it begins. */
export function linesOf(base: Uint8Array, { start, end }: ByteRange): LineRange {
  return { first: lineAt(base, start), last: lineAt(base, Math.max(start, end - 1)) }
}

function lineAt(base: Uint8Array, offset: number): number {
  let line = 1
  for (let at = base.indexOf(newline); at >= 0 && at < offset; at = base.indexOf(newline, at + 1)) line++
  return line
}
