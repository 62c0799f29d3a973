import type { Edit } from '#domain/change-set.ts'

export type ComposedEdits = { kind: 'composed'; edits: Edit[] } | { kind: 'conflict'; at: Edit; with: Edit }

/**
 * `held` and `added`, both relative to the same base, as one sorted list. Disjoint edits compose, equal edits coalesce;
 * overlapping ones, or two insertions at one point, are a conflict. Which list is which does not change the answer.
 */
export function composeEdits(held: readonly Edit[], added: readonly Edit[]): ComposedEdits {
  const edits: Edit[] = []
  const sorted = [...held, ...added].toSorted((one, other) => one.start - other.start || one.end - other.end)
  for (const edit of sorted) {
    const last = edits.at(-1)
    if (last !== undefined && isSameEdit(last, edit)) continue
    if (last !== undefined && collide(last, edit)) return { kind: 'conflict', at: edit, with: last }
    edits.push(edit)
  }
  return { kind: 'composed', edits }
}

function isSameEdit(one: Edit, other: Edit): boolean {
  return one.start === other.start && one.end === other.end && one.text === other.text
}

/** `one` starts first, or at the same byte and ends first. */
function collide(one: Edit, other: Edit): boolean {
  const bothInsertHere = one.start === one.end && other.start === other.end && one.start === other.start
  return bothInsertHere || other.start < one.end
}
