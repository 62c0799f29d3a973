import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { terminalControls } from '#domain/terminal-controls.ts'
import type { ChangeView } from '#schemas/change-schema.ts'
import { openPaint } from '../terminal-text.ts'
import { charactersOf, fold } from './fold-text.ts'
import { aChange, madeDecisions, openReview, somebody, tenLineDiff } from './review.fixture.ts'
import { renderReview } from './render-review.ts'

function looking(change = aChange('one'), { columns = 60, rows = 24 } = {}) {
  const review = openReview({ columns, rows })
  review.list([change, aChange('two')])
  const { change_set_id: id } = change
  review.take({ kind: 'looked', id, changes: [change], summary: 'Did it.' })
  return review
}

describe('the screen of a change', () => {
  it('has its name, where it stands, what was said and proved, its diff, and the keys', () => {
    expect(looking().screen()).toBe(
      [
        'lint a.py one                                         1 of 2',
        'pending  +1 -0  one                   0 accepted, 0 rejected',
        '─'.repeat(60),
        'Did it.',
        '1 check holds',
        '',
        ' 1   line 1\n 2   line 2\n 3   line 3\n 4   line 4\n 5   line 5',
        ' 6 + by one',
        ' 7   line 6\n 8   line 7\n 9   line 8\n10   line 9\n11   line 10',
        '\n\n',
        '─'.repeat(60),
        '',
        'a accept · r reject · w reject with a word · s skip · b back',
        'u undo · t transcript · f filter · ? help · q quit',
      ].join('\n'),
    )
  })

  it('shows less around the change where there is no room, and pages what is long all the same', () => {
    const small = looking(undefined, { rows: 17 })
    expect(small.screen()).toContain('3   line 3')
    expect(small.screen()).not.toContain('2   line 2')
    const lines = Array.from({ length: 200 }, (_none, at) => `+line ${at}\n`).join('')
    const diff = `diff --git a/n.py b/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1,200 @@\n${lines}`
    const long = looking(aChange('one', { diff }))
    expect(long.screen()).toContain('── lines 1-17 of 204, space shows more ──')
    long.press(' ')
    expect(long.screen()).toContain('── lines 17-33 of 204')
    long.press('G')
    expect(long.screen()).toContain('200 + line 199')
    expect(long.screen()).toContain('lines 188-204 of 204 ──')
    long.press('down', 'up', 'pageup')
    expect(long.screen()).toContain('── lines 171-187')
    long.press('g')
    expect(long.screen()).toContain('── lines 1-17')
  })

  it('names what it is built on, with rules, before it is accepted with it, and afterwards', () => {
    const review = openReview()
    const base = (id: string, rule: string, more: Partial<ChangeView> = {}) =>
      aChange(id, { qualified_name: 'a.py', rules: [rule], ...more })
    const builtOn = [base('c1', 'UP018'), base('c2', 'C408', { verdict: 'accepted' })]
    const change = aChange('one', { agent: 'docstring', built_on: ['c1', 'c2'] })
    review.list([change, aChange('two')])
    expect(review.screen()).toContain('1 check holds\nbuilt on c1\nbuilt on c2\n\n')
    review.take({ kind: 'looked', id: 'one', changes: [change], summary: '', builtOn })
    expect(review.screen()).toContain('built on lint a.py (UP018)\nbuilt on lint a.py (C408), accepted\n\n')
    review.press('a')
    const { decisions, ...answer } = madeDecisions(
      { id: 'one', verdict: 'accepted' },
      { id: 'c1', verdict: 'accepted' },
    )
    review.answer({ ...answer, decisions: decisions.map((made) => ({ ...made, qualified_name: 'a.py' })) })
    expect(review.screen()).toContain('also accepted lint a.py (UP018)')
    review.press('b')
    expect(review.screen()).toContain('built on lint a.py (UP018), accepted')
    const many = aChange('three', { built_on: ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'] })
    expect(looking(many).screen()).toContain('built on c5\nbuilt on 2 more\n')
  })

  it('says in full what fails, what could not be checked, and what was decided and tried before', () => {
    const evidence = [
      { check: 'parses', path: 'a.py', ok: true },
      { check: 'lint_before_after', path: 'a.py', ok: false, detail: 'F821 undefined name' },
      { check: 'not_checked', of: 'names_kept', path: 'a.py', ok: true, detail: 'no parser' },
    ]
    const change = aChange('one', { evidence, verdict: 'rejected', decision: somebody })
    const review = looking(change, { rows: 60 })
    const earlier = aChange('old', {
      is_redone: true,
      verdict: 'rejected',
      decision: { ...somebody, reason: 'too long' },
    })
    review.take({ kind: 'looked', id: 'one', changes: [change, earlier], summary: '' })
    const screen = review.screen()
    expect(screen).toContain('rejected by human/t0, 2026-05-01 12:30 UTC: not so\n')
    expect(screen).toContain('an earlier attempt, old, is rejected: too long\n')
    expect(screen).toContain('lint_before_after fails  a.py: F821 undefined name\n')
    expect(screen).toContain('names_kept not checked  a.py: no parser\n1 check holds\n')
    const [own, former] = [screen.indexOf('+ by one'), screen.indexOf('+ by old')]
    expect(own).toBeGreaterThan(0)
    expect(former).toBeGreaterThan(own)
    expect(looking(aChange('one', { evidence: [] })).screen()).toContain('nothing was checked')
    const detail = '1 of 8 planted faults noticed; not noticed: line 3: `2` became `3`'
    const weak = [{ check: 'tests_kill_mutants', path: 'test_a.py', ok: true, detail }]
    expect(looking(aChange('one', { evidence: weak })).screen()).toContain(
      '1 check holds; 1 of 8 planted faults noticed',
    )
    const needless = { check: 'docstring_only', path: 'a.py', ok: true, detail: '1 `pass` went' }
    expect(looking(aChange('one', { evidence: [needless] })).screen()).toContain('1 check holds; 1 `pass` went')
  })

  it('shows with what it collides, and the text of that', () => {
    const other = { change_set_id: 'zero', operation_id: 'o-zero', agent: 'docstring', text: 'zero\n' }
    const conflict = {
      change_set_id: 'one',
      operation_id: 'o-one',
      path: 'a.py',
      error_code: 'WORK_001',
      reason: 'overlaps',
    }
    const screen = looking(aChange('one', { conflict: { ...conflict, with: other } }), {
      columns: 90,
      rows: 30,
    }).screen()
    expect(screen).toContain('left out of the patch: WORK_001  o-one a.py collides with docstring o-zero a.py\n')
    expect(screen).toContain('docstring makes of the same place:\n  | zero\n')
  })
})

describe('a screen with little room', () => {
  const review = (columns: number, rows: number) => looking(undefined, { columns, rows })
  const refused = `human/t34b1d8c2379a2fc8 has decided otherwise on cf135238f984bfc4c: ${'it is rejected. '.repeat(3)}`

  it('shows a message to its end, and the diff gives up lines for it', () => {
    const telling = review(80, 16)
    const before = telling.screen().split('\n').length
    telling.press('a')
    telling.fail(refused)
    expect(telling.screen().replaceAll(/\s+/g, ' ')).toContain(refused.trim())
    expect(telling.screen()).toContain('+ by one')
    expect(telling.screen().split('\n')).toHaveLength(before)
  })
})

describe('every screen', () => {
  const hostile = `\u001B[2J\u202E${'wide 漢字 '.repeat(30)}\tend`
  const change = aChange('one', {
    qualified_name: hostile,
    verdict: 'rejected',
    decision: { ...somebody, reason: hostile, decided_by: hostile },
    diff: tenLineDiff('a.py', hostile),
    evidence: [{ check: 'parses', path: hostile, ok: false, detail: hostile }],
  })
  const sizes = [
    { columns: 80, rows: 24 },
    { columns: 60, rows: 20 },
    { columns: 25, rows: 10 },
    { columns: 1, rows: 1 },
  ]

  it.each(sizes)('has as many lines as a terminal of $columns x $rows and none that is wider', ({ columns, rows }) => {
    const review = looking(change, { columns, rows })
    const check = () => {
      const lines = renderReview(review.state(), openPaint(true))
      expect(lines.length).toBeLessThanOrEqual(rows)
      for (const line of lines) expect(fold(stripVTControlCharacters(line), Math.max(20, columns))).toHaveLength(1)
      const ours = lines.join('\n').replaceAll(/\p{Cc}\[\d+m/gu, '')
      expect(ours.match(terminalControls) ?? ours.match(/\t/)).toBeNull()
    }
    check()
    for (const key of [
      '?',
      ' ',
      'q',
      'f',
      'escape',
      'w',
      ...charactersOf(hostile.slice(0, 20)),
      'escape',
      'n',
      'n',
      'n',
    ]) {
      review.press(key)
      check()
    }
    review.press('b', 'b', 'w')
    review.take({ kind: 'pasted', text: hostile })
    check()
    review.press('escape')
    review.take({ kind: 'transcript', title: hostile, text: hostile })
    check()
    review.take({ kind: 'resized', size: { columns: 40, rows: 12 } })
    expect(renderReview(review.state(), openPaint(false))).toHaveLength(12)
  })
})
