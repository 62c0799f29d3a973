import { visible, visibleName } from '../terminal-text.ts'

/** A line of a unified diff as a person reads it: numbered, with the head of each file in one line. */
export type DiffRow =
  | { kind: 'file'; text: string }
  /** Lines that are not shown. */
  | { kind: 'gap' }
  | { kind: 'same' | 'added' | 'removed'; line: number; text: string }
  | { kind: 'note'; text: string }

const hunkHead = /^@@ -(?<oldStart>\d+)(?:,(?<oldLines>\d+))? \+(?<newStart>\d+)(?:,(?<newLines>\d+))? @@/

/** The rows of a diff, with the control characters of the text escaped. A line end is shown where it is not that of most lines. */
export function readDiff(diff: string): DiffRow[] {
  const rows: DiffRow[] = []
  const files = diff.split(/^(?=diff --git )/m)
  let mark: Mark
  const left = { old: 0, new: 0 }
  const at = { old: 0, new: 0 }
  const lines = diff.replace(/\n$/, '').split('\n')
  for (const [number, line] of lines.entries()) {
    const hasEnd = lines[number + 1]?.startsWith('\\') !== true
    if (line.startsWith('\\')) rows.push({ kind: 'note', text: line.slice(2) })
    else if (left.old > 0 || left.new > 0) rows.push(hunkRow(line, { left, at, mark: hasEnd ? mark : undefined }))
    else if (line.startsWith('diff --git ')) {
      mark = rarerEnd(files.shift() ?? '')
      rows.push({ kind: 'file', text: visibleName(pathOf(line)) })
    } else if (/^(?:new file|deleted file|old|new) mode /.test(line)) rows.push({ kind: 'note', text: line })
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
type Mark = '␍' | '␊' | undefined

/** Returns the line end that is shown: if a file mixes CRLF and LF, the rarer of the two. The last line of a text may have none. */
function rarerEnd(file: string): Mark {
  const all = file.split('\n')
  const hunks = all.slice(all.findIndex((line) => line.startsWith('@@')))
  const lines = hunks.filter((line, at) => /^[ +-]/.test(line) && hunks[at + 1]?.startsWith('\\') !== true)
  const returns = lines.filter((line) => line.endsWith('\r')).length
  if (returns === 0 || returns === lines.length) return undefined
  return returns * 2 <= lines.length ? '␍' : '␊'
}

/** Counts the line on the sides that have it. */
function hunkRow(line: string, { left, at, mark }: { left: Sides; at: Sides; mark: Mark }): DiffRow {
  const text = shownText(line.slice(1), mark)
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

function shownText(text: string, mark: Mark): string {
  const isReturn = text.endsWith('\r')
  const end = mark !== undefined && isReturn === (mark === '␍') ? mark : ''
  return `${visible(isReturn ? text.slice(0, -1) : text)}${end}`
}

/** Both sides of the line have the same path: `diff --git a/PATH b/PATH`. */
function pathOf(line: string): string {
  const names = line.slice('diff --git '.length)
  const first = names.slice(0, (names.length - 1) / 2)
  return first.startsWith('"') ? unquoted(first.slice(1, -1)).slice(2) : first.slice(2)
}

const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 }

/** The path that git has written with escapes: `\\303\\244` for the bytes of `ä`. */
function unquoted(path: string): string {
  const parts = path.split(/(\\(?:[0-7]{3}|.))/)
  const bytes = parts.map((part) => {
    if (!part.startsWith('\\')) return Buffer.from(part)
    const code = part.slice(1)
    if (/^[0-7]{3}$/.test(code)) return Buffer.from([Number.parseInt(code, 8)])
    const control = escapes[code]
    return control === undefined ? Buffer.from(code) : Buffer.from([control])
  })
  return Buffer.concat(bytes).toString()
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
