import type { Diagnostic, LintReport } from '#languages/lint/lint-report.ts'
import { bisect, changedRuns, linesOf, type ChangedRun } from '#platform/changed-ranges.ts'
import { type CheckResult, once } from './python-facts.ts'

export type Linted = { text: string; report: LintReport }

/** Finds faults that were not there before at the corresponding place, by the repository's rules and the guard rules. A fixed one makes up for none. */
export function lintBeforeAfter(before: Linted, after: Linted, runsOf?: () => ChangedRun[]): CheckResult {
  const figures = { before: before.report.diagnostics.length, after: after.report.diagnostics.length }
  const fresh = faultsMade(before, after, runsOf)
  const texts = new Set(fresh.map(({ code, line, message }) => `line ${line}: ${code} ${message}`))
  return { ...figures, fault: texts.size === 0 ? undefined : `new: ${summaryOf([...texts])}` }
}

/** The faults that `after` has and `before` does not, those of the guard rules first. */
export function faultsMade(
  before: Linted,
  after: Linted,
  runsOf: () => readonly ChangedRun[] = () => changedRuns(linesOf(before.text), linesOf(after.text)),
): Diagnostic[] {
  if (after.report.guards.length + after.report.diagnostics.length === 0) return []
  const places = movedPlaces(before.text, after.text, runsOf())
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
  const taken = new Set<Diagnostic>()
  const withoutCounterpart = (faults: readonly Diagnostic[], { keysBefore, keysAfter }: PlaceKeys) => {
    const left = new Map<string, Diagnostic[]>()
    for (const fault of before) {
      if (taken.has(fault)) continue
      for (const key of keysBefore(fault)) {
        const known = left.get(key)
        if (known === undefined) left.set(key, [fault])
        else known.push(fault)
      }
    }
    const takeFrom = (candidates: Diagnostic[], fault: Diagnostic) => {
      while (candidates[0] !== undefined && taken.has(candidates[0])) candidates.shift()
      const own = candidates.find((candidate) => !taken.has(candidate) && measureOf(candidate) >= measureOf(fault))
      if (own !== undefined) taken.add(own)
      return own !== undefined
    }
    return faults.filter((fault) => !keysAfter(fault).some((key) => takeFrom(left.get(key) ?? [], fault)))
  }
  // Faults at the same place are matched first, so that no other fault takes their counterpart.
  let fresh = [...after]
  for (const keys of [places.same, places.inRun, places.onMovedLine, places.onMovedImport]) {
    if (fresh.length > 0) fresh = withoutCounterpart(fresh, keys)
  }
  return fresh
}

/** Names the rule and its message without line numbers, figures of a limit and quoted code, which another fix may have edited. */
function kindOf({ code, message }: Diagnostic): string {
  const words = message.replaceAll(/\bline \d+/g, 'line').replace(/\(\d+ > \d+\)/, '')
  return `${code} ${words.replaceAll(/`[^`]*[\s()[\]=][^`]*`/g, '``')}`
}

/** The measured figure, 100 in `Line too long (100 > 88)`; 0 for a fault of another kind. */
function measureOf({ message }: Diagnostic): number {
  return Number(/\((\d+) > \d+\)/.exec(message)?.[1] ?? 0)
}

/** Two faults have the same place when they share a key. Each key includes the kind of the fault. */
type PlaceKeys = { keysBefore(fault: Diagnostic): string[]; keysAfter(fault: Diagnostic): string[] }

type Places = {
  /** Matches faults on an unchanged line, in the same column; of a fault of many lines the first or the last line counts. */
  same: PlaceKeys
  /** Matches faults in the same changed run; on the same line of it if it has as many lines as before. */
  inRun: PlaceKeys
  /** Matches faults on a line that moved without a change, as when imports are sorted. */
  onMovedLine: PlaceKeys
  /** Matches faults on an import from the same module that moved and changed, as when its names are sorted, too. */
  onMovedImport: PlaceKeys
}

function movedPlaces(before: string, after: string, runs: readonly ChangedRun[]): Places {
  const [linesBefore, linesAfter] = [once(() => linesOf(before)), once(() => linesOf(after))]
  const rowAfter = rowMover(runs)
  const begin = (fault: Diagnostic, row: number) => `${kindOf(fault)} begins ${row}:${fault.column}`
  const end = (fault: Diagnostic, row: number) => `${kindOf(fault)} ends ${row}`
  const inRun = (fault: Diagnostic, run: ChangedRun, row: number) => {
    const isLineByLine = run.before.end - run.before.start === run.after.end - run.after.start
    return `${kindOf(fault)} in run ${run.before.start}:${run.after.start} ${isLineByLine ? row : ''}`
  }
  const runAfter = (row: number) => {
    const run = lastFrom(runs, ({ after: now }) => now.start <= row)
    return run === undefined || row >= run.after.end ? undefined : run
  }
  const onLine = lineKeys()
  const wasChanged = (fault: Diagnostic) => rowAfter(fault.line - 1).run !== undefined
  const isChanged = (fault: Diagnostic) => runAfter(fault.line - 1) !== undefined
  return {
    same: {
      keysBefore(fault) {
        const row = rowAfter(fault.line - 1).row
        const last = lastRowOf(fault, before)
        const lastRow = last > fault.line - 1 ? rowAfter(last).row : undefined
        return [
          ...(row === undefined ? [] : [begin(fault, row)]),
          ...(lastRow === undefined ? [] : [end(fault, lastRow)]),
        ]
      },
      keysAfter: (fault) => [begin(fault, fault.line - 1), end(fault, lastRowOf(fault, after))],
    },
    inRun: {
      keysBefore(fault) {
        const { run } = rowAfter(fault.line - 1)
        return run === undefined ? [] : [inRun(fault, run, fault.line - 1 - run.before.start)]
      },
      keysAfter(fault) {
        const run = runAfter(fault.line - 1)
        return run === undefined ? [] : [inRun(fault, run, fault.line - 1 - run.after.start)]
      },
    },
    onMovedLine: {
      keysBefore: (fault) => (wasChanged(fault) ? [onLine(fault, linesBefore())] : []),
      keysAfter: (fault) => (isChanged(fault) ? [onLine(fault, linesAfter())] : []),
    },
    onMovedImport: {
      keysBefore: (fault) => (wasChanged(fault) ? onImport(fault, linesBefore()) : []),
      keysAfter: (fault) => (isChanged(fault) ? onImport(fault, linesAfter()) : []),
    },
  }
}

/** Makes the key of a fault on a line that begins `from a import`, with its indentation: a function's is not the module's. */
function onImport(fault: Diagnostic, lines: readonly string[]): string[] {
  const head = /^[ \t]*from[ \t]+[\w.]+[ \t]+import\b/.exec(lines[fault.line - 1] ?? '')?.[0]
  return head === undefined ? [] : [`${kindOf(fault)} on ${head}`]
}

/** Makes keys from the text of a fault's line, by a number for each text: a line may be long and have many faults. */
function lineKeys(): (fault: Diagnostic, lines: readonly string[]) => string {
  const numbers = new Map<string, number>()
  return (fault, lines) => {
    const text = lines[fault.line - 1] ?? ''
    const number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    return `${kindOf(fault)} at ${fault.column} of text ${number}`
  }
}

function lastFrom(runs: readonly ChangedRun[], begins: (run: ChangedRun) => boolean): ChangedRun | undefined {
  const next = bisect(runs.length, (at) => {
    const run = runs[at]
    return run !== undefined && begins(run)
  })
  return runs[next - 1]
}

function rowMover(runs: readonly ChangedRun[]): (row: number) => { row?: number; run?: ChangedRun } {
  const known = new Map<number, { row?: number; run?: ChangedRun }>()
  return (row) => {
    const before = known.get(row)
    if (before !== undefined) return before
    const last = lastFrom(runs, (run) => run.before.start <= row)
    const isInside = last !== undefined && row < last.before.end
    const moved = isInside ? { run: last } : { row: row + (last === undefined ? 0 : last.after.end - last.before.end) }
    known.set(row, moved)
    return moved
  }
}

function lastRowOf({ line, start, end }: Diagnostic, text: string): number {
  return line - 2 + linesOf(text.slice(start, end)).length
}
