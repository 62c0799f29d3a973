/** Replaces the UTF-16 units from `start` to `end` of a source by `text`, which holds no line break. */
export type SourceEdit = { start: number; end: number; text: string }

/** Applies disjoint edits. Line breaks of a replaced part stay, before the new text, so every line keeps its number. */
export function applySourceEdits(source: string, edits: readonly SourceEdit[]): string {
  let result = ''
  let from = 0
  for (const edit of inOrder(edits)) {
    result += source.slice(from, edit.start) + replacement(source, edit)
    from = edit.end
  }
  return result + source.slice(from)
}

/** The position in the source of an index of the edited text; inside a replacement, the start of the replaced part. */
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
