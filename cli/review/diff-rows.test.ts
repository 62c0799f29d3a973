import { describe, expect, it } from 'vitest'
import { unifiedDiff } from '#platform/unified-diff.ts'
import { type DiffRow, readDiff, withContext } from './diff-rows.ts'

const lines = (count: number) => Array.from({ length: count }, (_none, at) => `line ${at + 1}`)
const text = (all: readonly string[]) => all.map((line) => `${line}\n`).join('')

function diffOf(before: string | null, after: string | null, { path = 'a.py', context = 30, executable = false } = {}) {
  const bytes = (content: string | null) => (content === null ? null : Buffer.from(content))
  const versions = { path, before: bytes(before), after: bytes(after), ...(executable && { executable }) }
  return Buffer.from(unifiedDiff(versions, { context })).toString()
}

const shown = (rows: readonly DiffRow[]) =>
  rows.map((row) => {
    if (row.kind === 'gap') return '⋮'
    return row.kind === 'file' || row.kind === 'note' ? row.text : `${row.line} ${row.kind} ${row.text}`
  })

describe('the rows of a diff', () => {
  it('number what is there by the new file, and what is gone by the old one', () => {
    const rows = readDiff(diffOf('a\nb\nc\n', 'a\nB\nB2\nc\n'))
    expect(shown(rows)).toEqual(['a.py', '1 same a', '2 removed b', '2 added B', '3 added B2', '4 same c'])
  })

  it('begin anew for each file, and say what became of it', () => {
    const diff = [
      diffOf(null, 'x', { path: 'new file.py', executable: true }),
      diffOf('y\n', null, { path: 'gone.py' }),
      diffOf('z\n', 'z\n', { path: 'näher.sh', executable: true }),
    ].join('')
    expect(shown(readDiff(diff))).toEqual([
      'new file.py',
      'new file',
      'is executable',
      '1 added x',
      'No newline at end of file',
      'gone.py',
      'deleted file',
      '1 removed y',
      'näher.sh',
      'becomes executable',
    ])
  })

  it('take lines that look like the head of a file for what they are', () => {
    const rows = readDiff(diffOf('-- a\n@@ -1 +1 @@\n', '++ b\ndiff --git a/x b/x\n'))
    expect(shown(rows)).toEqual([
      'a.py',
      '1 removed -- a',
      '2 removed @@ -1 +1 @@',
      '1 added ++ b',
      '2 added diff --git a/x b/x',
    ])
  })

  it('show a line end only where most lines of the file have another one', () => {
    const mixed = readDiff(diffOf('a\r\nb\r\nc\r\nd', 'a\r\nb\r\nnew\nc\r\nd') + diffOf('a\nb\n', 'a\nb\r\n'))
    expect(shown(mixed)).toEqual([
      'a.py',
      '1 same a',
      '2 same b',
      '3 added new␊',
      '4 same c',
      '5 same d',
      'No newline at end of file',
      'a.py',
      '1 same a',
      '2 removed b',
      '2 added b␍',
    ])
  })
})

describe('the lines around a change', () => {
  const before = lines(30)
  const rows = readDiff(diffOf(text(before), text(before.toSpliced(4, 0, 'one').toSpliced(24, 0, 'two'))))

  it('are as many as there is room for, with a gap between two changes', () => {
    expect(shown(withContext(rows, 1))).toEqual([
      'a.py',
      '4 same line 4',
      '5 added one',
      '6 same line 5',
      '⋮',
      '24 same line 23',
      '25 added two',
      '26 same line 24',
    ])
    expect(withContext(rows, 30)).toEqual(rows)
    expect(shown(withContext(rows, 10))).not.toContain('⋮')
  })

  it('end where the service left lines out', () => {
    const parts = readDiff(diffOf(text(before), text(before.toSpliced(0, 1).toSpliced(-1, 1)), { context: 3 }))
    expect(shown(parts).filter((row) => row === '⋮')).toHaveLength(1)
    expect(shown(withContext(parts, 1))).toEqual([
      'a.py',
      '1 removed line 1',
      '1 same line 2',
      '⋮',
      '28 same line 29',
      '30 removed line 30',
    ])
  })
})
