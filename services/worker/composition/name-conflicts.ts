import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import type { Conflict, ConflictingSet, LineRange } from '#objects/composition.ts'
import type { ByteRange, LeftOutSet, SetInConflict } from './compose-change-sets.ts'

export type NamingDeps = {
  sets: readonly ChangeSet[]
  /** By operation. */
  nodes: ReadonlyMap<string, Pick<CodeNode, 'path' | 'qualifiedName'>>
  readBlob(hash: string): Promise<Uint8Array>
}

/**
 * Says of each change set that was left out, and of the one that keeps it out, which agent made it for which code, and
 * which lines of the file it changes.
 */
export async function nameConflicts(leftOut: readonly LeftOutSet[], deps: NamingDeps): Promise<Conflict[]> {
  if (leftOut.length === 0) return []
  const sets = new Map(deps.sets.map((set) => [set.changeSetId, set]))
  const conflicts: Conflict[] = []
  for (const one of leftOut) {
    const base = await baseOf(one, sets, deps)
    const named = (set: SetInConflict) => nameSet(set, base, { sets, nodes: deps.nodes })
    const { path, errorCode, reason, with: other } = one
    conflicts.push({ ...named(one), path, errorCode, reason, ...(other === undefined ? {} : { with: named(other) }) })
  }
  return conflicts
}

/** How many change sets of each agent were left out. */
export function conflictsByAgent(conflicts: readonly Conflict[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const { agent = '' } of conflicts) counts.set(agent, (counts.get(agent) ?? 0) + 1)
  return Object.fromEntries(counts)
}

/** The file before the run; undefined for one that is new. */
async function baseOf(
  { changeSetId, path }: LeftOutSet,
  sets: ReadonlyMap<string, ChangeSet>,
  { readBlob }: NamingDeps,
): Promise<Uint8Array | undefined> {
  const change = sets.get(changeSetId)?.files.find((file) => file.path === path)
  return change?.kind === 'edit' ? readBlob(change.baseHash) : undefined
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

/** A text that is only inserted is on the line that it begins at. */
export function linesOf(base: Uint8Array, { start, end }: ByteRange): LineRange {
  return { first: lineAt(base, start), last: lineAt(base, Math.max(start, end - 1)) }
}

function lineAt(base: Uint8Array, offset: number): number {
  let line = 1
  for (let at = base.indexOf(newline); at >= 0 && at < offset; at = base.indexOf(newline, at + 1)) line++
  return line
}
