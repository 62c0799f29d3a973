import type { ChangeSet, Edit, FileChange } from '#domain/change-set.ts'
import { composeEdits } from '#domain/compose-edits.ts'
import type { Conflict } from '#objects/composition.ts'

/** What is to become of one file: edits on its base blob, or a new content, or nothing at all. */
export type FileResult = { path: string; sets: ChangeSet[] } & (
  | { kind: 'edit'; baseHash: string; edits: Edit[] }
  | { kind: 'create'; content: string }
  | { kind: 'delete'; baseHash: string }
)

export type Composed = { files: FileResult[]; conflicts: Conflict[] }

/**
 * Puts change sets together, in the order given. Each composes whole or not at all: one that collides with a set before
 * it, in any of its files, is left out and shown as a conflict (WORK_001). Pure; files come sorted by path.
 */
export function composeChangeSets(sets: readonly ChangeSet[]): Composed {
  const files = new Map<string, FileResult>()
  const conflicts: Conflict[] = []
  for (const set of sets) {
    const joined = set.files.map((change) => inWay(files, change) ?? join(files.get(change.path), change, set))
    const collision = joined.find((answer) => answer.kind === 'conflict')
    if (collision !== undefined) conflicts.push(conflictOf(set, collision))
    else for (const answer of joined) if (answer.kind === 'joined') files.set(answer.file.path, answer.file)
  }
  return { files: [...files.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1)), conflicts }
}

type Collision = { kind: 'conflict'; path: string; reason: string }
type Joined = { kind: 'joined'; file: FileResult } | Collision

/** A created file and a created folder of one name cannot both be. */
function inWay(files: ReadonlyMap<string, FileResult>, { path, kind }: FileChange): Collision | undefined {
  if (kind !== 'create') return undefined
  const other = [...files.values()].find(
    (held) => held.kind === 'create' && (held.path.startsWith(`${path}/`) || path.startsWith(`${held.path}/`)),
  )
  return other && { kind: 'conflict', path, reason: `another set creates ${other.path}` }
}

function join(held: FileResult | undefined, change: FileChange, set: ChangeSet): Joined {
  if (held === undefined) return { kind: 'joined', file: { ...change, sets: [set] } }
  const sets = [...held.sets, set]
  const conflict = (reason: string): Joined => ({ kind: 'conflict', path: change.path, reason })
  if (held.kind === 'edit' && change.kind === 'edit') {
    if (held.baseHash !== change.baseHash) return conflict('made on another base')
    const answer = composeEdits(held.edits, change.edits)
    if (answer.kind === 'composed') return { kind: 'joined', file: { ...held, edits: answer.edits, sets } }
    return conflict(`both change bytes ${answer.at.start} to ${Math.max(answer.at.end, answer.with.end)}`)
  }
  const isSame =
    (held.kind === 'create' && change.kind === 'create' && held.content === change.content) ||
    (held.kind === 'delete' && change.kind === 'delete')
  return isSame
    ? { kind: 'joined', file: { ...held, sets } }
    : conflict(`one set would ${held.kind} it, another ${change.kind} it`)
}

function conflictOf({ changeSetId, operationId }: ChangeSet, { path, reason }: Collision): Conflict {
  return { changeSetId, operationId, path, errorCode: 'WORK_001', reason }
}
