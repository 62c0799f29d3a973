import { type ReviewedSet, type ReviewedSets, type Verdict, verdictOf } from './review-fold.ts'
import { proofOf, type ProofState } from './review-words.ts'

/** Chooses what is shown: what meets all that is set. `path` is a part of a path or of the name of a definition. */
export type ReviewFilter = {
  agent?: string | undefined
  path?: string | undefined
  /** `left_out`: it is not in the proposed patch. */
  evidence?: ProofState | 'left_out' | undefined
  verdict?: Verdict | undefined
}

/**
 * Returns the sets that are shown, in their order. Those in `kept` stay although they do not meet `verdict` any more: a change that was
 * decided on must not jump away from under the pointer.
 */
export function shownSets(sets: ReviewedSets, filter: ReviewFilter, kept: ReadonlySet<string>): ReviewedSet[] {
  return [...sets.values()].filter((set) => meets(set, filter, kept))
}

function meets(set: ReviewedSet, { agent, path, evidence, verdict }: ReviewFilter, kept: ReadonlySet<string>): boolean {
  const { change } = set
  if (agent !== undefined && change.agent !== agent) return false
  if (evidence === 'left_out' && change.conflict === undefined) return false
  if (evidence !== undefined && evidence !== 'left_out' && proofOf(change) !== evidence) return false
  if (verdict !== undefined && verdictOf(set) !== verdict && !kept.has(change.change_set_id)) return false
  return path === undefined || hasWord(set, path.trim().toLowerCase())
}

function hasWord({ change }: ReviewedSet, word: string): boolean {
  const texts = [change.path, change.qualified_name, ...change.files.map((file) => file.path), ...change.rules]
  return texts.some((text) => text.toLowerCase().includes(word))
}

/** A row of the list: the head of a file, or a change. In the list by file a change that is about several files stands under each. */
export type ReviewRow =
  | { kind: 'file'; path: string; ids: readonly string[] }
  | { kind: 'change'; id: string; path: string | undefined }

export function rowsOf(sets: readonly ReviewedSet[], isByFile: boolean): ReviewRow[] {
  if (!isByFile) return sets.map(({ change }) => ({ kind: 'change', id: change.change_set_id, path: undefined }))
  const files = new Map<string, string[]>()
  for (const { change } of sets) {
    for (const { path } of change.files) {
      const ids = files.get(path) ?? []
      ids.push(change.change_set_id)
      files.set(path, ids)
    }
  }
  const sorted = [...files].toSorted(([left], [right]) => (left < right ? -1 : 1))
  return sorted.flatMap(([path, ids]) => [
    { kind: 'file', path, ids } as const,
    ...ids.map((id) => ({ kind: 'change', id, path }) as const),
  ])
}

/** Returns `before` where the rows are the same: a decision changes none, and what the list knows of each row need not be made anew. */
export function keptRows(before: readonly ReviewRow[], rows: readonly ReviewRow[]): readonly ReviewRow[] {
  const isSame = (row: ReviewRow, at: number) => {
    const other = before[at]
    if (row.kind === 'change') return other?.kind === 'change' && other.id === row.id && other.path === row.path
    return other?.kind === 'file' && other.path === row.path && other.ids.length === row.ids.length
  }
  return before.length === rows.length && rows.every(isSame) ? before : rows
}

/** Returns the index of the next row with a change after `from` that passes `isWanted`, or before it; undefined at the end. */
export function nextRow(
  rows: readonly ReviewRow[],
  from: number,
  { step, isWanted = () => true }: { step: 1 | -1; isWanted?: (id: string) => boolean },
): number | undefined {
  for (let at = from + step; at >= 0 && at < rows.length; at += step) {
    const row = rows[at]
    if (row?.kind === 'change' && isWanted(row.id)) return at
  }
  return undefined
}

export function countVerdicts(sets: Iterable<ReviewedSet>): { all: number } & Record<Verdict, number> {
  const counts = { all: 0, pending: 0, accepted: 0, rejected: 0 }
  for (const set of sets) {
    counts.all += 1
    counts[verdictOf(set)] += 1
  }
  return counts
}
