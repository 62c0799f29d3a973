import { visible, visibleName } from '../terminal-text.ts'

/** A line of a unified diff as a person reads it: numbered, with the head of each file in one line. */
export type DiffRow =
  | { kind: 'file'; text: string }
  /** Lines that are not shown. */
  | { kind: 'gap' }
  | { kind: 'same' | 'added' | 'removed'; line: number; text: string }
  | { kind: 'note'; text: string }

const hunkHead = /^@@ -(?<oldStart>\d+)(?:,(?<oldLines>\d+))? \+(?<newStart>\d+)(?:,(?<newLines>\d+))? @@/

/** The rows of a diff, with the control characters of the text escaped. */
export function readDiff(diff: string): DiffRow[] {
  const rows: DiffRow[] = []
  const left = { old: 0, new: 0 }
  const at = { old: 0, new: 0 }
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    if (line.startsWith('\\')) rows.push({ kind: 'note', text: line.slice(2) })
    else if (left.old > 0 || left.new > 0) rows.push(hunkRow(line, { left, at }))
    else if (line.startsWith('diff --git ')) rows.push({ kind: 'file', text: visibleName(pathOf(line)) })
    else if (/^(?:new file|deleted file|old|new) mode /.test(line)) rows.push({ kind: 'note', text: line })
    const head = hunkHead.exec(line)?.groups
    if (head === undefined || left.old > 0 || left.new > 0) continue
    at.old = Number(head['oldStart'])
    at.new = Number(head['newStart'])
    left.old = Number(head['oldLines'] ?? 1)
    left.new = Number(head['newLines'] ?? 1)
    if (rows.at(-1)?.kind !== 'file' && rows.at(-1)?.kind !== 'note') rows.push({ kind: 'gap' })
  }
  return rows
}

type Sides = { old: number; new: number }

/** Counts the line on the sides that have it. */
function hunkRow(line: string, { left, at }: { left: Sides; at: Sides }): DiffRow {
  const text = shownText(line.slice(1))
  if (line.startsWith('+')) {
    left.new -= 1
    return { kind: 'added', line: at.new++, text }
  }
  left.old -= 1
  if (line.startsWith('-')) return { kind: 'removed', line: at.old++, text }
  left.new -= 1
  at.old += 1
  return { kind: 'same', line: at.new++, text }
}

/** A carriage return at the end of a line is a character that can be seen. */
function shownText(text: string): string {
  return text.endsWith('\r') ? `${visible(text.slice(0, -1))}␍` : visible(text)
}

/** Both sides of the line have the same path: `diff --git a/PATH b/PATH`. */
function pathOf(line: string): string {
  const names = line.slice('diff --git '.length)
  const first = names.slice(0, (names.length - 1) / 2)
  return first.startsWith('"') ? `"${first.slice(3)}` : first.slice(2)
}

/** The rows with at most `context` unchanged ones around each change; what is left out between two of them is a gap. */
export function withContext(rows: readonly DiffRow[], context: number): DiffRow[] {
  const isNear = nearChange(rows, context)
  const kept: DiffRow[] = []
  let leftOut = false
  for (const [index, row] of rows.entries()) {
    const isAway = row.kind === 'note' ? leftOut : row.kind === 'same' && isNear[index] !== true
    if (isAway) {
      leftOut = true
      continue
    }
    const [before, isLine] = [kept.at(-1)?.kind ?? 'file', row.kind !== 'gap' && row.kind !== 'file']
    if (leftOut && isLine && before !== 'file' && before !== 'gap') kept.push({ kind: 'gap' })
    leftOut = false
    kept.push(row)
  }
  return kept
}

function nearChange(rows: readonly DiffRow[], context: number): boolean[] {
  const near = rows.map(() => false)
  for (const indexes of [[...rows.keys()], [...rows.keys()].toReversed()]) {
    let distance = Infinity
    for (const index of indexes) {
      const kind = rows[index]?.kind
      distance =
        kind === 'added' || kind === 'removed' ? 0 : kind === 'gap' || kind === 'file' ? Infinity : distance + 1
      if (distance <= context) near[index] = true
    }
  }
  return near
}
