/** A replacement in UTF-16 units of a text, end-exclusive. */
export type TextEdit = { start: number; end: number; text: string }

/** Makes edits that do not overlap. */
export function withEdits(text: string, edits: readonly TextEdit[]): string {
  const lastFirst = edits.toSorted((left, right) => right.start - left.start)
  return lastFirst.reduce(
    (whole, { start, end, text: added }) => whole.slice(0, start) + added + whole.slice(end),
    text,
  )
}

/** Cuts what the old and the new text have in common at both ends: linters replace whole statements or lines. */
export function smallestEdit({ start, end, text: added }: TextEdit, text: string): TextEdit {
  const removed = text.slice(start, end)
  const least = Math.min(removed.length, added.length)
  let head = 0
  while (head < least && removed[head] === added[head]) head++
  let tail = 0
  while (tail < least - head && removed.at(-1 - tail) === added.at(-1 - tail)) tail++
  return { start: start + head, end: end - tail, text: added.slice(head, added.length - tail) }
}
