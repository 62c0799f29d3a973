import { diffArrays } from 'diff'

/** A run of items that was replaced: `[start, end)` in each of the two sequences; one of the two may be empty. */
export type ChangedRun = { before: Range; after: Range }
type Range = { start: number; end: number }

/** Items removed and added, together, up to which the shortest difference is looked for: its cost grows with their square. */
const maxEditLength = 1000

/**
 * Where two sequences differ, in order; what lies between two runs is equal, item by item. Beyond `maxEditLength` all from
 * the first difference to the last is one run.
 */
export function changedRuns(before: readonly string[], after: readonly string[]): ChangedRun[] {
  const least = Math.min(before.length, after.length)
  let head = 0
  while (head < least && before[head] === after[head]) head++
  let tail = 0
  while (tail < least - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const middle = { before: before.slice(head, before.length - tail), after: after.slice(head, after.length - tail) }
  if (middle.before.length === 0 && middle.after.length === 0) return []
  const parts = diffArrays(middle.before, middle.after, { maxEditLength })
  const start = { before: head, after: head }
  if (parts === undefined) return [runOf(start, middle.before.length, middle.after.length)]
  const runs: ChangedRun[] = []
  let removed = 0
  let added = 0
  for (const part of [...parts, endOfDiff]) {
    if (part.removed) removed += part.value.length
    else if (part.added) added += part.value.length
    else {
      if (removed + added > 0) runs.push(runOf(start, removed, added))
      start.before += removed + part.value.length
      start.after += added + part.value.length
      removed = added = 0
    }
  }
  return runs
}

/** Closes a run at the very end. */
const endOfDiff: { added: boolean; removed: boolean; value: string[] } = { added: false, removed: false, value: [] }

function runOf(start: { before: number; after: number }, removed: number, added: number): ChangedRun {
  return {
    before: { start: start.before, end: start.before + removed },
    after: { start: start.after, end: start.after + added },
  }
}

/** The lines of a text, each without its line end. */
export function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/)
}
