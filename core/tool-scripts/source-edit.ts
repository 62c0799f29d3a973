/** Replaces the UTF-16 units from `start` to `end` of a source by `text`, which holds no line break. */
export type SourceEdit = { start: number; end: number; text: string }

/**
 * The source with disjoint edits applied. Line breaks inside a replaced part are kept, before the new text, so that
 * every line of the result has the number it has in the source.
 */
export function applySourceEdits(source: string, edits: readonly SourceEdit[]): string {
  let result = ''
  let from = 0
  for (const edit of inOrder(edits)) {
    result += source.slice(from, edit.start) + replacement(source, edit)
    from = edit.end
  }
  return result + source.slice(from)
}

/** Where in the source an index of the edited text stands: for one inside a replaced part, the start of that part. */
export function sourceIndex(source: string, edits: readonly SourceEdit[], editedIndex: number): number {
  let moved = 0
  for (const edit of inOrder(edits)) {
    const start = edit.start + moved
    if (editedIndex < start) break
    const { length } = replacement(source, edit)
    if (editedIndex < start + length) return edit.start
    moved += length - (edit.end - edit.start)
  }
  return editedIndex - moved
}

function inOrder(edits: readonly SourceEdit[]): SourceEdit[] {
  return edits.toSorted((a, b) => a.start - b.start)
}

function replacement(source: string, edit: SourceEdit): string {
  const breaks = source.slice(edit.start, edit.end).split('\n').length - 1
  return '\n'.repeat(breaks) + edit.text
}
