import { diffWordsWithSpace } from 'diff'
import type { DiffLine, Hunk } from '#domain/read-diff.ts'

/** Lines beside each other, as the split view has them. What only one side has stands beside nothing. */
export type LinePair = { left: DiffLine | undefined; right: DiffLine | undefined }

/** Characters of a line, from `start` up to `end`. */
export type Range = { start: number; end: number }

/** Puts each removed line beside the added one that replaces it. */
export function pairLines({ lines }: Hunk): LinePair[] {
  const pairs: LinePair[] = []
  let removed: DiffLine[] = []
  let added: DiffLine[] = []
  const flush = () => {
    const count = Math.max(removed.length, added.length)
    for (let at = 0; at < count; at += 1) pairs.push({ left: removed[at], right: added[at] })
    removed = []
    added = []
  }
  for (const line of lines) {
    if (line.kind === 'same') {
      flush()
      pairs.push({ left: line, right: line })
    } else if (line.kind === 'added') added.push(line)
    else {
      if (added.length > 0) flush()
      removed.push(line)
    }
  }
  flush()
  return pairs
}

/** Longer lines, and more than so many pairs of a hunk, have no marks: to compare them costs more than a reader has of it. */
const mostCharacters = 400
const mostPairs = 200
/** Lines that have less in common are two lines, not a changed one. */
const leastCommon = 0.3

/** Finds what has changed within the lines that replace others. */
export function markWords(pairs: readonly LinePair[]): ReadonlyMap<DiffLine, readonly Range[]> {
  const marks = new Map<DiffLine, readonly Range[]>()
  const changed = pairs.filter(({ left, right }) => left !== undefined && right !== undefined && left !== right)
  for (const { left, right } of changed.slice(0, mostPairs)) {
    if (left === undefined || right === undefined) continue
    if (left.text.length > mostCharacters || right.text.length > mostCharacters) continue
    const found = changedRanges(left.text, right.text)
    if (found === undefined) continue
    marks.set(left, found.before)
    marks.set(right, found.after)
  }
  return marks
}

function changedRanges(before: string, after: string): { before: Range[]; after: Range[] } | undefined {
  const ranges = { before: new Array<Range>(), after: new Array<Range>() }
  const at = { before: 0, after: 0 }
  let common = 0
  for (const { value, added, removed } of diffWordsWithSpace(before, after)) {
    const isCommon = !added && !removed
    if (isCommon) common += value.trim().length
    for (const side of ['before', 'after'] as const) {
      if (side === 'before' ? added : removed) continue
      const end = at[side] + value.length
      if (!isCommon) ranges[side].push({ start: at[side], end })
      at[side] = end
    }
  }
  return common < leastCommon * Math.min(before.trim().length, after.trim().length) ? undefined : ranges
}

/** A piece of a line as it is drawn; `scope` is what highlighting makes of it. */
export type Segment = { text: string; scope: string | undefined; isMarked: boolean }
export type Token = { text: string; scope: string | undefined }

/** Cuts the tokens of a line where marks begin and end. */
export function segmentsOf(tokens: readonly Token[], marks: readonly Range[]): Segment[] {
  const segments: Segment[] = []
  let at = 0
  for (const { text, scope } of tokens) {
    const end = at + text.length
    const inside = marks.flatMap((mark) => [mark.start, mark.end]).filter((cut) => cut > at && cut < end)
    const cuts = [at, ...new Set(inside), end]
    for (const [index, start] of cuts.slice(0, -1).entries()) {
      const stop = cuts[index + 1] ?? end
      const isMarked = marks.some((mark) => mark.start <= start && stop <= mark.end)
      if (stop > start) segments.push({ text: text.slice(start - at, stop - at), scope, isMarked })
    }
    at = end
  }
  return segments
}
