import type { Edit } from '#domain/change-set.ts'

/** `base` with the edits made. They must be sorted, disjoint and inside the base, as a change set holds them. */
export function applyEdits(base: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const parts: Uint8Array[] = []
  let at = 0
  for (const edit of edits) {
    parts.push(base.subarray(at, edit.start), Buffer.from(edit.text))
    at = edit.end
  }
  parts.push(base.subarray(at))
  return Buffer.concat(parts)
}
