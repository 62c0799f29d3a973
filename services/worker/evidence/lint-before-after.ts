import type { Diagnostic, LintReport } from '#lint/lint-report.ts'
import { changedRuns, linesOf, type ChangedRun } from './changed-runs.ts'
import type { Finding } from './python-facts.ts'

type Linted = { text: string; report: LintReport }

/**
 * Every fault after the change was there before it, at the place that its own has become: under the repository's rules and, whatever
 * these are, under those that guard every change (undefined names, unused imports …). Faults are compared one by one, so
 * that no fault mended makes up for one made. `runs` are the changed lines.
 */
export function lintBeforeAfter(before: Linted, after: Linted, runs: readonly ChangedRun[]): Finding {
  const figures = { before: before.report.diagnostics.length, after: after.report.diagnostics.length }
  const fresh = faultsMade(before, after, runs)
  const known = new Set<string>()
  const shown = fresh.map(({ code, line, message }) => `line ${line}: ${code} ${message}`)
  const distinct = shown.filter((text) => !known.has(text) && known.add(text))
  return { ...figures, fault: distinct.length === 0 ? undefined : `new: ${summaryOf(distinct)}` }
}

/** The faults of `after` that `before` did not have, those under the guard rules first. */
export function faultsMade(
  before: Linted,
  after: Linted,
  runs: readonly ChangedRun[] = changedRuns(linesOf(before.text), linesOf(after.text)),
): Diagnostic[] {
  const places = movedPlaces(before.text, after.text, runs)
  return [
    ...freshFaults(before.report.guards, after.report.guards, places),
    ...freshFaults(before.report.diagnostics, after.report.diagnostics, places),
  ]
}

const shownFaults = 5

function summaryOf(faults: readonly string[]): string {
  const more = faults.length > shownFaults ? [`${faults.length - shownFaults} more`] : []
  return [...faults.slice(0, shownFaults), ...more].join('; ')
}

function freshFaults(before: readonly Diagnostic[], after: readonly Diagnostic[], places: Places): Diagnostic[] {
  const left = new Map<string, Diagnostic[]>()
  for (const fault of before) {
    const alike = left.get(kindOf(fault))
    if (alike === undefined) left.set(kindOf(fault), [fault])
    else alike.push(fault)
  }
  const isTakenBy = (fault: Diagnostic, fits: (one: Diagnostic, other: Diagnostic) => boolean) => {
    const candidates = left.get(kindOf(fault)) ?? []
    const at = candidates.findIndex((one) => fits(one, fault) && measureOf(one) >= measureOf(fault))
    if (at >= 0) candidates.splice(at, 1)
    return at >= 0
  }
  // Those at the same place take their counterparts first, so that none is left without because of a neighbour.
  const moved = after.filter((fault) => !isTakenBy(fault, places.isSamePlace))
  return moved.filter((fault) => !isTakenBy(fault, places.isSameRun))
}

/**
 * The rule and its message, without the numbers of lines, without how far over a limit it is, and without code that it
 * quotes, which a fix of another rule may have edited. Names that it quotes count.
 */
function kindOf({ code, message }: Diagnostic): string {
  const words = message.replaceAll(/\bline \d+/g, 'line').replace(/\(\d+ > \d+\)/, '')
  return `${code} ${words.replaceAll(/`[^`]*[\s()[\]=][^`]*`/g, '``')}`
}

/** By how much a limit is broken, as in `Line too long (100 > 88)`; 0 for a fault of another kind. */
function measureOf({ message }: Diagnostic): number {
  return Number(/\((\d+) > \d+\)/.exec(message)?.[1] ?? 0)
}

type Places = {
  /** On a line that is as it was, in the same column; a fault of many lines, where its first or its last is. */
  isSamePlace(before: Diagnostic, after: Diagnostic): boolean
  /** In one changed run; line by line, where it has as many lines as before. */
  isSameRun(before: Diagnostic, after: Diagnostic): boolean
}

function movedPlaces(before: string, after: string, runs: readonly ChangedRun[]): Places {
  const [ends, endsAfter] = [lineCounter(before), lineCounter(after)]
  const rowAfter = rowMover(runs)
  return {
    isSamePlace(one, other) {
      if (one.column === other.column && rowAfter(one.line - 1).row === other.line - 1) return true
      const [last, lastAfter] = [ends(one.end), endsAfter(other.end)]
      return last > one.line - 1 && rowAfter(last).row === lastAfter
    },
    isSameRun(one, other) {
      const [row, rowNow] = [one.line - 1, other.line - 1]
      const { run } = rowAfter(row)
      if (run === undefined || rowNow < run.after.start || rowNow >= run.after.end) return false
      const isLineByLine = run.before.end - run.before.start === run.after.end - run.after.start
      return !isLineByLine || row - run.before.start === rowNow - run.after.start
    },
  }
}

/** The row that a row has become, or the changed run that it lies in. */
function rowMover(runs: readonly ChangedRun[]): (row: number) => { row?: number; run?: ChangedRun } {
  const known = new Map<number, { row?: number; run?: ChangedRun }>()
  return (row) => {
    const before = known.get(row)
    if (before !== undefined) return before
    const last = runs.findLast((one) => one.before.start <= row)
    const isInside = last !== undefined && row < last.before.end
    const moved = isInside ? { run: last } : { row: row + (last === undefined ? 0 : last.after.end - last.before.end) }
    known.set(row, moved)
    return moved
  }
}

/** The 0-based row of an index of `text`, by bisection: it is asked for every pair of like faults. */
function lineCounter(text: string): (index: number) => number {
  const starts = [0, ...Array.from(text.matchAll(/\r\n|\n|\r/g), (end) => end.index + end[0].length)]
  return (index) => {
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= index) low = middle
      else high = middle - 1
    }
    return low
  }
}
