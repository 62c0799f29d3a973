import { type ChangeSet, composeEdits, type Edit, type FileChange, isSameFile } from '#domain/change-set.ts'
import type { Conflict } from '#objects/composition.ts'

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
  const composed = openComposedFiles()
  const conflicts = sets.flatMap((set) => composed.add(set) ?? [])
  return { files: composed.files().toSorted((one, other) => (one.path < other.path ? -1 : 1)), conflicts }
}

/** Files to which change sets are added one after the other. */
export type ComposedFiles = {
  /** Adds all of the set, or nothing of one that collides with what was added before: then it says why (WORK_001). */
  add(set: ChangeSet): LeftOutSet | undefined
  /** Takes a set that was added out again: only the files that it changes are composed anew. */
  remove(set: ChangeSet): void
  files(): FileResult[]
}

export function openComposedFiles(): ComposedFiles {
  const files = new Map<string, FileResult>()
  const created = openCreatedPaths(files)

  function hold(file: FileResult): void {
    if (file.kind === 'create' && !files.has(file.path)) created.add(file.path)
    files.set(file.path, file)
  }

  return {
    add(set) {
      const joined = set.files.map((change) => created.clash(change) ?? join(files.get(change.path), change, set))
      const collision = joined.find((answer) => answer.kind === 'conflict')
      if (collision !== undefined) return conflictOf(set, collision)
      for (const file of joined) if (file.kind !== 'conflict') hold(file)
      return undefined
    },
    remove({ changeSetId, files: changed }) {
      for (const { path } of changed) {
        const held = files.get(path)
        if (held === undefined) continue
        files.delete(path)
        if (held.kind === 'create') created.remove(path)
        for (const other of held.sets.filter((one) => one.changeSetId !== changeSetId)) {
          const change = other.files.find((file) => file.path === path)
          const file = change && join(files.get(path), change, other)
          if (file !== undefined && file.kind !== 'conflict') hold(file)
        }
      }
    },
    files: () => [...files.values()],
  }
}

/** The created files, and the folders that they are in: a created file and a created folder cannot have the same path. */
function openCreatedPaths(files: ReadonlyMap<string, FileResult>) {
  /** Folder → the created files under it. */
  const under = new Map<string, Set<string>>()
  const clashOf = (path: string): string | undefined => {
    const [below] = under.get(path) ?? []
    return below ?? foldersOf(path).find((folder) => files.get(folder)?.kind === 'create')
  }
  return {
    add(path: string): void {
      for (const folder of foldersOf(path)) under.set(folder, (under.get(folder) ?? new Set()).add(path))
    },
    remove(path: string): void {
      for (const folder of foldersOf(path)) under.get(folder)?.delete(path)
    },
    clash({ path, kind }: FileChange): Collision | undefined {
      const other = kind === 'create' ? files.get(clashOf(path) ?? '') : undefined
      if (other === undefined) return undefined
      return { kind: 'conflict', path, reason: `another change set creates ${other.path}`, ...withFirst(other) }
    },
  }
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

function join(held: FileResult | undefined, change: FileChange, set: ChangeSet): FileResult | Collision {
  if (held === undefined) return { ...change, sets: [set] }
  const sets = [...held.sets, set]
  const { path } = change
  const conflict = (reason: string): Collision => {
    const bytes = editedBytes(set, path)
    return { kind: 'conflict', path, reason, ...(bytes && { bytes }), ...withFirst(held) }
  }
  if (held.kind === 'edit' && change.kind === 'edit') {
    if (held.baseHash !== change.baseHash) return conflict('made from another version of the file')
    const answer = composeEdits(held.edits, change.edits)
    if (answer.kind === 'composed')
      return { ...held, edits: answer.edits, sets, executable: held.executable ?? change.executable }
    const isHeld = held.edits.includes(answer.at)
    const [ownEdit, heldEdit] = isHeld ? [answer.with, answer.at] : [answer.at, answer.with]
    return overlap(held, ownEdit, heldEdit)
  }
  const isSame =
    (held.kind === 'create' && change.kind === 'create' && isSameFile(held, change)) ||
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

function withFirst({ sets, path }: FileResult): { with?: SetInConflict } {
  const [first] = sets
  const bytes = first && editedBytes(first, path)
  return first === undefined ? {} : { with: { ...idsOf(first), ...(bytes && { bytes }) } }
}

function conflictOf(set: ChangeSet, { kind: _kind, ...collision }: Collision): LeftOutSet {
  return { ...idsOf(set), errorCode: 'WORK_001', ...collision }
}
