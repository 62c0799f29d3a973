/** Replaces the UTF-16 units from `start` to `end` of a source by `text`, which holds no line break. */
export type SourceEdit = { start: number; end: number; text: string }

/**
 * The source with disjoint edits applied. Line breaks inside a replaced part are kept, before the new text, so that
 * every line of the result has the number it has in the source.
 */
export function applySourceEdits(source: string, edits: readonly SourceEdit[]): string {
  let result = ''
  let from = 0
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    const breaks = source.slice(edit.start, edit.end).split('\n').length - 1
    result += source.slice(from, edit.start) + '\n'.repeat(breaks) + edit.text
    from = edit.end
  }
  return result + source.slice(from)
}
