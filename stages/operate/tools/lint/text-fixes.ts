import type { Diagnostic } from '#languages/lint/lint-report.ts'
import type { TextEdit } from '#languages/lint/text-edit.ts'
import { movedRange } from '#domain/rebase-edits.ts'
import { editsBetween } from '#change-sets/edits-between.ts'

/** Counts in UTF-16 units, end-exclusive. */
export type Range = { start: number; end: number }

/** The faults that have a fix, without those whose fix touches an earlier one. */
export function separateFixes(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const made: TextEdit[] = []
  return diagnostics.filter(({ fix }) => {
    if (fix === undefined || fix.some((edit) => made.some((other) => touches(edit, other)))) return false
    made.push(...fix)
    return true
  })
}

export function withFixes(text: string, diagnostics: readonly Diagnostic[]): string {
  const fixes = diagnostics.flatMap((fault) => fault.fix ?? []).toSorted((left, right) => left.start - right.start)
  const edits = fixes.map((edit) => withGap(edit, text))
  const pieces: string[] = []
  let end = 0
  for (const edit of edits) {
    pieces.push(text.slice(end, edit.start), edit.text)
    end = edit.end
  }
  return pieces.join('') + text.slice(end)
}

/** Deletes with whole lines as many blank lines before them as follow them, so that the larger gap remains; at the text's ends none. */
function withGap(edit: TextEdit, text: string): TextEdit {
  const isFirst = edit.start === 0 || (edit.start === 1 && text.startsWith('\uFEFF'))
  const isWholeLines =
    edit.text === '' &&
    (isFirst || text[edit.start - 1] === '\n') &&
    (edit.end === text.length || text[edit.end - 1] === '\n')
  if (!isWholeLines) return edit
  let { start, end } = edit
  if (isFirst) return { ...edit, end: end + (/^(?:[ \t]*\r?\n)+/.exec(text.slice(end))?.[0].length ?? 0) }
  while (start > 0) {
    const line = text.lastIndexOf('\n', start - 2) + 1
    const next = text.indexOf('\n', end) + 1 || text.length
    const follows = end === text.length || isBlank(text.slice(end, next))
    if (!follows || !isBlank(text.slice(line, start))) break
    start = line
    end = next
  }
  return { ...edit, start }
}

/** A line with a form feed is not blank. */
function isBlank(line: string): boolean {
  return /^[ \t]*\r?\n?$/.test(line)
}

/** Tells whether a range lies inside one of `within` (undefined: anywhere) and overlaps none of `keepOut`. */
export function isFree({ start, end }: Range, keepOut: readonly Range[], within?: readonly Range[]): boolean {
  return (
    !keepOut.some((other) => start < other.end && other.start < end) &&
    (within?.some((range) => start >= range.start && end <= range.end) ?? true)
  )
}

function touches(left: TextEdit, right: TextEdit): boolean {
  return left.start <= right.end && right.start <= left.end
}

/** The ranges of `source`, moved to `text`, its edited form. An edit at the border of a range counts as inside. */
export function movedRanges(ranges: readonly Range[], source: string, text: string): readonly Range[] {
  if (ranges.length === 0 || source === text) return ranges
  const [from, to] = [Buffer.from(source), Buffer.from(text)]
  const edits = editsBetween(from, to)
  return ranges.map(({ start, end }) => {
    const bytes = { start: Buffer.byteLength(source.slice(0, start)), end: Buffer.byteLength(source.slice(0, end)) }
    const moved = movedRange(bytes, edits)
    return { start: to.subarray(0, moved.start).toString().length, end: to.subarray(0, moved.end).toString().length }
  })
}

/** Turns byte ranges of `source` into ranges of its UTF-16 units. */
export function utf16Ranges(source: string, ranges: readonly { startByte: number; endByte: number }[]): Range[] {
  if (ranges.length === 0) return []
  const bytes = Buffer.from(source)
  const unit = (byte: number) => bytes.subarray(0, byte).toString().length
  return ranges.map(({ startByte, endByte }) => ({ start: unit(startByte), end: unit(endByte) }))
}
