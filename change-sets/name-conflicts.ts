import { applyEdits, type ChangeSet, type LineRange } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import type { Conflict, ConflictingSet } from '#store/objects/composition.ts'
import type { ByteRange, SetInConflict } from './changes-at-path.ts'
import type { LeftOutSet } from './compose-change-sets.ts'

type NamingDeps = {
  /** Holds at least the sets of the conflicts, by their ids. */
  sets: ReadonlyMap<string, ChangeSet>
  nodes: ReadonlyMap<string, Pick<CodeNode, 'path' | 'qualifiedName'>>
  readBlob(hash: string): Promise<Uint8Array>
}

/** Adds agent, code, changed lines and the text there to each set that was left out, and to the one it is in conflict with. */
export async function nameConflicts(leftOut: readonly LeftOutSet[], deps: NamingDeps): Promise<Conflict[]> {
  if (leftOut.length === 0) return []
  const { sets } = deps
  const conflicts: Conflict[] = []
  for (const conflict of leftOut) {
    const change = sets.get(conflict.changeSetId)?.files.find((file) => file.path === conflict.path)
    const base = change && 'baseHash' in change ? await deps.readBlob(change.baseHash) : undefined
    const { path, errorCode, reason, with: against, byItself } = conflict
    const named = (set: SetInConflict) => nameSet(set, { path, base }, { sets, nodes: deps.nodes })
    conflicts.push({
      ...named(conflict),
      path,
      errorCode,
      reason,
      ...(against && { with: named(against) }),
      ...(byItself && { byItself }),
    })
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
  { path, base }: { path: string; base: Uint8Array | undefined },
  { sets, nodes }: { sets: ReadonlyMap<string, ChangeSet>; nodes: NamingDeps['nodes'] },
): ConflictingSet {
  const set = sets.get(changeSetId)
  const agent = set?.bundle
  const node = nodes.get(operationId)
  return {
    changeSetId,
    operationId,
    ...(agent === undefined ? {} : { agent }),
    ...(node === undefined ? {} : { node: { path: node.path, qualifiedName: node.qualifiedName } }),
    ...(bytes === undefined || base === undefined ? {} : { lines: linesOf(base, bytes) }),
    ...(set === undefined ? {} : textIn(set, path, { base, bytes })),
  }
}

/** Returns what the set makes of these lines, or of a new file; nothing for a file that it deletes. */
function textIn(
  set: ChangeSet,
  path: string,
  { base, bytes }: { base: Uint8Array | undefined; bytes: ByteRange | undefined },
): Pick<ConflictingSet, 'text'> {
  const change = set.files.find((file) => file.path === path)
  if (change?.kind === 'create') return { text: clipped(change.content) }
  if (change?.kind !== 'edit' || base === undefined || bytes === undefined) return {}
  const range = wholeLines(base, bytes)
  const inside = change.edits.filter(({ start, end }) => start >= range.start && end <= range.end)
  const moved = inside.map((edit) => ({ ...edit, start: edit.start - range.start, end: edit.end - range.start }))
  return { text: clipped(Buffer.from(applyEdits(base.subarray(range.start, range.end), moved)).toString()) }
}

function wholeLines(base: Uint8Array, { start, end }: ByteRange): ByteRange {
  const after = base.indexOf(newline, Math.max(start, end - 1))
  return { start: start === 0 ? 0 : base.lastIndexOf(newline, start - 1) + 1, end: after < 0 ? base.length : after + 1 }
}

const maxTextCharacters = 4_000

function clipped(text: string): string {
  return text.length <= maxTextCharacters ? text : `${text.slice(0, maxTextCharacters).toWellFormed()}…`
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
