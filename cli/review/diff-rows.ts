import { type DiffLine, parseDiff } from '#domain/read-diff.ts'
import { visible, visibleName } from '../terminal-text.ts'

/** A line of a unified diff as a person reads it: numbered, with the head of each file in one line. */
export type DiffRow =
  | { kind: 'file'; text: string }
  /** Lines that are not shown. */
  | { kind: 'gap' }
  | { kind: 'same' | 'added' | 'removed'; line: number; text: string }
  | { kind: 'note'; text: string }

/** The rows of a diff, with the control characters of the text escaped. */
export function readDiff(diff: string): DiffRow[] {
  return parseDiff(diff).flatMap(({ path, kind, notes, hunks }) => {
    const became = kind === 'create' ? ['new file'] : kind === 'delete' ? ['deleted file'] : []
    const said = [...became, ...notes].map((text) => ({ kind: 'note', text }) as const)
    const lines = hunks.flatMap((hunk, at) => [
      ...(at === 0 ? [] : [{ kind: 'gap' } as const]),
      ...hunk.lines.flatMap(rowsOf),
    ])
    return [{ kind: 'file', text: visibleName(path) } as const, ...said, ...lines]
  })
}

/** A removed line has its number of before, any other that of the new file. */
function rowsOf({ kind, before, after, text, end }: DiffLine): DiffRow[] {
  const line = (kind === 'removed' ? before : after) ?? 0
  if (end === 'no newline')
    return [
      { kind, line, text: visible(text) },
      { kind: 'note', text: 'No newline at end of file' },
    ]
  return [{ kind, line, text: `${visible(text)}${end ?? ''}` }]
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
