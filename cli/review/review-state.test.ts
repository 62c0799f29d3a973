import { describe, expect, it } from 'vitest'
import { charactersOf } from './fold-text.ts'
import { aChange, madeDecisions, openReview, reviewing, threeChanges } from './review.fixture.ts'
import { summaryLines } from './review-texts.ts'

describe('the list', () => {
  it('is read on while it is looked at, and again at its end', () => {
    const review = openReview()
    expect(review.effects()).toEqual([{ kind: 'list', where: { verdict: 'pending' }, cursor: null }])
    review.list([], { next: '0-1' })
    expect(review.effects()).toMatchObject([{ kind: 'list', cursor: '0-1' }])
    review.list([aChange('one')], { next: '0-2' })
    expect(review.kinds()).toEqual(['look', 'list'])
    expect(review.screen()).toContain('1 of 1+')
    review.list([aChange('two'), aChange('old', { is_redone: true })])
    expect(review.screen()).toContain('1 of 2')
    review.press('s', 'n')
    expect(review.effects()).toEqual([{ kind: 'list', where: { verdict: 'pending' }, cursor: null }])
    review.list([aChange('one'), aChange('two')])
    expect(review.screen()).toContain('That was the last one. Still pending: 2.')
    review.press('s')
    expect(review.screen()).toContain('lint a.py one')
  })

  it('grows while the run goes on, and what is typed meanwhile stays', () => {
    const review = reviewing([], { run: 'goes on' })
    expect(review.kinds()).toEqual(['wait'])
    expect(review.screen()).toContain('The run goes on')
    review.take({ kind: 'waited' })
    expect(review.effects()).toMatchObject([{ kind: 'list', cursor: null }])
    review.press('f', ' ')
    review.list([aChange('one')], { run: 'goes on' })
    expect(review.screen()).toContain('Show: verdict=pending ▏')
    review.press('escape')
    expect(review.screen()).toContain('lint a.py one')
  })

  it('is that of other conditions when somebody asks for these; answers for the ones before no longer count', () => {
    const review = reviewing()
    review.press('f', 'ctrl-u', ...charactersOf('agent=nobody'), 'return')
    expect(review.screen()).toContain('this run has no agent "nobody"')
    review.press('ctrl-u', ...charactersOf('verdict=maybe'), 'return')
    expect(review.screen()).toContain('The value of verdict must be one of')
    review.press('ctrl-u', ...charactersOf('agent=lint path=my src/**'), 'return')
    const where = { agent: 'lint', path: 'my src/**' }
    expect(review.effects()).toEqual([{ kind: 'list', where, cursor: null }])
    review.take({ kind: 'listed', where: { agent: 'lint' }, changes: threeChanges(), next: '0-9', run: 'ended' })
    expect(review.state().sets).toEqual([])
    const before = { kind: 'list', where: { agent: 'lint' }, cursor: null } as const
    review.take({ kind: 'failed', effect: before, message: 'STORE_002 unreachable' })
    expect(review.screen()).toContain('Looking for changes …')
    review.list([])
    expect(review.screen()).toContain('No change meets these conditions.')
  })

  it('goes on after a decision with what is still pending, or with the next where all are shown', () => {
    const decided = [aChange('one'), aChange('two', { verdict: 'accepted' }), aChange('three')]
    const pending = reviewing(decided)
    pending.press('a')
    pending.answer(madeDecisions({ id: 'one', verdict: 'accepted' }))
    expect(pending.state().at).toBe(2)
    pending.press('b', 'b', 'b')
    expect(pending.screen()).toContain('this is the first')
    const all = reviewing(decided, { where: {} })
    all.press('s')
    expect(all.state().at).toBe(1)
  })

  it('that could not be read is said so, and read again at a key', () => {
    const review = openReview()
    review.list([], { next: '0-1' })
    review.fail('STORE_002 unreachable')
    expect(review.screen()).toContain('The list of changes could not be read to its end')
    expect(review.screen()).toContain('STORE_002 unreachable')
    expect(review.effects()).toEqual([])
    review.press('n')
    expect(review.effects()).toMatchObject([{ kind: 'list', cursor: '0-1' }])
  })
})

describe('the end', () => {
  it('waits for the answer to a decision, and comes at once when it is asked for again', () => {
    const review = reviewing()
    review.press('a', 'q')
    expect(review.effects()).toEqual([])
    review.take({
      kind: 'decided',
      wanted: { decisions: [] },
      answer: madeDecisions({ id: 'one', verdict: 'accepted' }),
    })
    expect(review.kinds()).toContain('quit')
    const refused = reviewing()
    refused.press('a', 'q')
    refused.take({ kind: 'failed', effect: { kind: 'decide', decisions: [] }, message: 'CONFIG_006 no answer' })
    expect(refused.kinds()).toEqual([])
    expect(refused.screen()).toContain('CONFIG_006 no answer')
    const hasty = reviewing()
    hasty.press('a', 'ctrl-c', 'ctrl-c')
    expect(hasty.kinds()).toEqual(['quit'])
  })

  it('says what was done, and what to do next', () => {
    const review = reviewing([...threeChanges(), aChange('four')])
    expect(summaryLines(review.state())).toEqual(['accepted  0', 'rejected  0', 'skipped   0', 'left      4'])
    review.press('a')
    review.answer(madeDecisions({ id: 'one', verdict: 'accepted' }))
    review.press('w', 'n', 'o', 'return')
    review.answer(madeDecisions({ id: 'two', verdict: 'rejected', reason: 'no' }))
    review.press('s', 'q')
    expect(review.kinds()).toEqual(['quit'])
    expect(summaryLines(review.state())).toEqual([
      'accepted  1',
      'rejected  1 (1 with a word)',
      'skipped   1',
      'left      1',
      'next      remora apply r1  # in the folder of the run, or with --to FOLDER',
      '          remora retry r1 --rejected',
    ])
  })

  it('offers no retry for what a program would make again as it is', () => {
    const review = reviewing([aChange('one', { rules: ['F401'] }), aChange('two')])
    review.press('w', 'n', 'o', 'return')
    review.answer(madeDecisions({ id: 'one', verdict: 'rejected', reason: 'no' }))
    expect(summaryLines(review.state())).toEqual([
      'accepted  0',
      'rejected  1 (1 with a word)',
      'skipped   0',
      'left      1',
    ])
  })
})
