import { expect, it } from 'vitest'
import type { JournalEntry } from '#domain/external-journal.ts'
import { reportedFindings } from '#domain/code-finding.ts'
import { sha256 } from '#domain/ids.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { openWorkspace } from '#stages/operate/workspace/open-workspace.ts'
import { reportFinding } from './externals.ts'

const short = 'def f(x):\n    return 1 / x\n'

function opened(before: readonly JournalEntry[] = [], source = short) {
  const { path } = aPlannedOperation('f').node
  const workspace = openWorkspace({
    find: (asked) => (asked === path ? { hash: sha256(source) } : undefined),
    kindAt: (asked) => (asked === path ? 'file' : undefined),
    list: () => [],
    read: async () => Buffer.from(source),
  })
  const report = reportFinding(workspace, before)
  return { path, report: async (...args: unknown[]) => report(args) }
}

/** The journal as a script's calls leave it. */
const journalOf = (answers: readonly unknown[]): JournalEntry[] =>
  answers.map((answer) => ({ name: 'report_finding', args: [], answer }))

it('takes a claim about lines that exist, and shows the first of them', async () => {
  const { path, report } = opened()
  const answer = await report(' It divides by zero. ', `./${path}`, 2, 0.9, null, 'error', 'zero')
  expect(answer).toMatchObject({ reported: true, left: 19, finding: { line_text: 'return 1 / x' } })
  const found = { claim: 'It divides by zero.', path, line: 2, endLine: 2, lineText: 'return 1 / x' }
  expect(reportedFindings(journalOf([answer]))).toEqual([
    { ...found, severity: 'error', confidence: 0.9, rule: 'zero' },
  ])
  expect(await report('All of it.', path, 1, 1, 2)).toMatchObject({ finding: { severity: 'warning', rule: null } })
})

it.each([
  ['a line that is not there', ['c', 'src/app.py', 3, 0.5], 'src/app.py has lines 1 to 2, got 3 to 3'],
  ['a last line that is not there', ['c', 'src/app.py', 2, 0.5, 9], 'src/app.py has lines 1 to 2, got 2 to 9'],
  ['lines the wrong way round', ['c', 'src/app.py', 2, 0.5, 1], 'line (2) must be <= end_line (1)'],
  ['line 0', ['c', 'src/app.py', 0, 0.5], 'src/app.py has lines 1 to 2, got 0 to 0'],
  ['a file that is not there', ['c', 'src/none.py', 1, 0.5], 'no such file: src/none.py'],
  ['a place outside', ['c', '../app.py', 1, 0.5], 'path "../app.py" leads out of the repository'],
  ['an empty claim', [' ', 'src/app.py', 1, 0.5], 'claim must have 1 to 1000 characters'],
  ['a long claim', ['c'.repeat(1001), 'src/app.py', 1, 0.5], 'claim must have 1 to 1000 characters'],
  ['more than sure', ['c', 'src/app.py', 1, 90], 'confidence must be a number from 0 to 1'],
  ['an unknown severity', ['c', 'src/app.py', 1, 1, null, 'bad'], 'severity must be error, warning, note'],
  ['a rule of many words', ['c', 'src/app.py', 1, 1, null, 'note', 'a b'], 'rule must be a name'],
  ['a line that is no number', ['c', 'src/app.py', '1', 1], 'line must be an integer'],
])('refuses %s, with the reason', async (_what, args, reason) => {
  await expect(opened().report(...args)).rejects.toThrow(reason)
})

it('takes the same claim about the same lines once, however it is written, also from an attempt before', async () => {
  const { path, report } = opened()
  const first = await report('Divides  by zero', path, 2, 0.9)
  expect(await report('divides by ZERO', path, 2, 0.4, 2, 'error')).toEqual({
    reported: false,
    reason: 'it was reported before',
  })
  expect(await report('divides by zero', path, 1, 0.9)).toMatchObject({ reported: true })
  const later = opened(journalOf([first]))
  expect(await later.report('divides by zero', path, 2, 0.9)).toMatchObject({ reported: false })
  expect(reportedFindings(journalOf([first, { reported: false }, 'text']))).toHaveLength(1)
})

it('shows nothing of a line that is too long to be shown whole', async () => {
  const { path, report } = opened([], `x = "${'s'.repeat(200)}"\n`)
  expect(await report('It is long.', path, 1, 1)).toMatchObject({ finding: { line: 1, line_text: '' } })
})

it('takes 20 findings of an operation', async () => {
  const { path, report } = opened()
  for (let count = 1; count <= 20; count++) await report(`fault ${count}`, path, 1, 0.5)
  await expect(report('one more', path, 1, 0.5)).rejects.toThrow('at most 20 findings may be reported')
  expect(await report('fault 1', path, 1, 0.5)).toMatchObject({ reported: false })
})
