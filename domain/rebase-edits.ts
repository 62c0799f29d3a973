import type { Edit } from './change-set.ts'

/** `replaced`: the earlier edits that lie within one of `edits`, which has their text. */
export type RebasedEdits = { edits: Edit[]; replaced: Edit[] }

/**
 * Turns edits of `changed` into edits of its base, which `earlier` made it of; all lists are sorted and disjoint. The result and the earlier
 * edits that it does not replace compose to the same. One is replaced when it lies within one of the result, its ends included.
 */
export function rebaseEdits(earlier: readonly Edit[], made: readonly Edit[], changed: Uint8Array): RebasedEdits {
  const moved = movedEdits(earlier)
  const parts = made.map((edit) => grown({ edits: [edit], ...baseRange(edit, moved) }, moved))
  const merged: Part[] = []
  for (const part of parts) {
    const last = merged.at(-1)
    const isShared = last !== undefined && part.replaced.some((edit) => last.replaced.includes(edit))
    if (last === undefined || !isShared) merged.push(part)
    else
      merged[merged.length - 1] = grown(
        { edits: [...last.edits, ...part.edits], start: last.start, end: part.end },
        moved,
      )
  }
  return {
    edits: merged.map((part) => editOf(part, changed)),
    replaced: merged.flatMap(({ replaced }) => replaced.map(({ edit }) => edit)),
  }
}

/** Returns where bytes are after sorted, disjoint edits. One at its border counts as inside, and so does what cuts into it. */
export function movedRange(
  { start, end }: Pick<Edit, 'start' | 'end'>,
  edits: readonly Edit[],
): { start: number; end: number } {
  let [first, last] = [start, end]
  for (const edit of edits) {
    const shift = Buffer.byteLength(edit.text) - (edit.end - edit.start)
    if (edit.start < start) first += edit.end <= start ? shift : edit.start - start
    if (edit.start < end || (edit.start === end && edit.end === end))
      last += edit.end <= end ? shift : shift + edit.end - end
  }
  return { start: first, end: last }
}

/** An earlier edit, and the bytes of the changed file that are its text. */
type MovedEdit = { edit: Edit; from: number; to: number }

function movedEdits(earlier: readonly Edit[]): MovedEdit[] {
  let shift = 0
  return earlier.map((edit) => {
    const from = edit.start + shift
    const to = from + Buffer.byteLength(edit.text)
    shift += to - from - (edit.end - edit.start)
    return { edit, from, to }
  })
}

/** Edits of the changed file that become one of the base, its range there, and the earlier edits within that. */
type Part = { edits: readonly Edit[]; start: number; end: number; replaced: readonly MovedEdit[] }

/** The range of the base that an edit of the changed file covers; of earlier edits that it cuts into, the whole. */
function baseRange({ start, end }: Edit, moved: readonly MovedEdit[]): { start: number; end: number } {
  const isInsertion = start === end
  let [first, last] = [start, end]
  for (const { edit, from, to } of moved) {
    const shift = edit.end - edit.start - (to - from)
    // What is inserted where an earlier edit only deleted stands before what is deleted.
    if (to <= start && !(isInsertion && from === start)) first += shift
    if (to <= end && from < end) last += shift
  }
  const cutAt = (at: number) => moved.find(({ from, to }) => from < at && at < to)?.edit
  return { start: cutAt(start)?.start ?? first, end: cutAt(end)?.end ?? last }
}

function grown({ edits, start, end }: Omit<Part, 'replaced'>, moved: readonly MovedEdit[]): Part {
  return { edits, start, end, replaced: moved.filter(({ edit }) => edit.start >= start && edit.end <= end) }
}

function editOf({ edits, start, end, replaced }: Part, changed: Uint8Array): Edit {
  const [first, last] = [edits[0], edits.at(-1)]
  const texts: Uint8Array[] = []
  let at = Math.min(first?.start ?? 0, ...replaced.map(({ from }) => from))
  for (const edit of edits) {
    texts.push(changed.subarray(at, edit.start), Buffer.from(edit.text))
    at = edit.end
  }
  texts.push(changed.subarray(at, Math.max(last?.end ?? 0, ...replaced.map(({ to }) => to))))
  return { start, end, text: Buffer.concat(texts).toString() }
}
