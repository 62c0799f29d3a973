import { type ChangedRun, changedRuns } from '#platform/changed-ranges.ts'
import type { Diagnostic } from '../../lint/lint-report.ts'
import { smallestEdit, type TextEdit } from '../../lint/text-edit.ts'

/** The same text as gofmt writes it, and as `gofmt -s` does. */
type Formatted = { formatted: string; simplified: string }

const messages = {
  gofmt: 'not formatted as gofmt formats it',
  'gofmt-s': 'gofmt -s writes it more simply',
} as const

/**
 * Returns a fault for each part of `text` that differs from what `gofmt -s` makes of it: `gofmt-s` where only -s writes it so, else
 * `gofmt`. All their fixes together make the text of `gofmt -s`.
 */
export function formatFaults(text: string, { formatted, simplified }: Formatted): Diagnostic[] {
  const [before, target] = [linesOf(text), linesOf(simplified)]
  const starts = startsOf(before)
  const simplerRows = new Set(rowsOf(formatted === simplified ? [] : changedRuns(linesOf(formatted), target)))
  return changedRuns(before, target).map((run) => {
    const code = rowsOf([run]).some((row) => simplerRows.has(row)) ? 'gofmt-s' : 'gofmt'
    const start = starts[run.before.start] ?? text.length
    const removed = before.slice(run.before.start, run.before.end)
    const fix = editsOf({ start, removed, added: target.slice(run.after.start, run.after.end) }, text)
    return {
      code,
      message: messages[code],
      line: Math.min(run.before.start + 1, before.length),
      column: 1,
      start: fix[0]?.start ?? start,
      end: fix.at(-1)?.end ?? start,
      fix,
    }
  })
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/)
}

function startsOf(lines: readonly string[]): number[] {
  let at = 0
  return lines.map((line) => (at += line.length) - line.length)
}

/** Lists the rows after the change, and the one behind it: where lines only went, there is no other. */
function rowsOf(runs: readonly ChangedRun[]): number[] {
  return runs.flatMap(({ after: { start, end } }) => Array.from({ length: end - start + 1 }, (_, at) => start + at))
}

type Hunk = { start: number; removed: readonly string[]; added: readonly string[] }

/** Replaces lines one by one where as many come as go, so that what stays between them is not touched. */
function editsOf({ start, removed, added }: Hunk, text: string): TextEdit[] {
  if (removed.length !== added.length) {
    const edit = { start, end: start + removed.join('').length, text: added.join('') }
    return [withoutGap(smallestEdit(edit, text), text)]
  }
  const starts = startsOf(removed)
  return removed.flatMap((line, at) => {
    const from = start + (starts[at] ?? 0)
    const edit = { start: from, end: from + line.length, text: added[at] ?? '' }
    return line === edit.text ? [] : [smallestEdit(edit, text)]
  })
}

/**
 * Lets an edit that only removes whole lines also replace the line end before them: blank lines around them would be judged when the fix
 * is made (`withFixes`), and gofmt has judged them already.
 */
function withoutGap(edit: TextEdit, text: string): TextEdit {
  const isWholeLines =
    edit.text === '' && text[edit.start - 1] === '\n' && (edit.end === text.length || text[edit.end - 1] === '\n')
  return isWholeLines ? { ...edit, start: edit.start - 1, text: '\n' } : edit
}
