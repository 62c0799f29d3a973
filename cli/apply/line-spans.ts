/** Lines of a file from `start` up to but not with `end`, counted from 0; with `start` = `end` the place before that line. */
export type LineSpan = { start: number; end: number }

/** Is true when they have a line in common or are right beside each other: there git merges nothing. */
export function touch(left: LineSpan, right: LineSpan): boolean {
  return left.start <= right.end && right.start <= left.end
}

/** Returns the hunks of a diff of one file without context: the lines that are replaced, and those that are there instead. */
export function hunksIn(diff: string): { before: LineSpan; after: LineSpan }[] {
  return [...diff.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm)].map(
    ([, from = '', count, to = '', newCount]) => ({ before: spanOf(from, count), after: spanOf(to, newCount) }),
  )
}

/** A hunk that removes or adds nothing names the line before it. */
function spanOf(first: string, count = '1'): LineSpan {
  const start = count === '0' ? Number(first) : Number(first) - 1
  return { start, end: start + Number(count) }
}
