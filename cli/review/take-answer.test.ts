import { describe, expect, it } from 'vitest'
import { aChange, madeDecisions, reviewing, somebody } from './review.fixture.ts'

describe('a decision', () => {
  it('is sent at once with the version that was seen, and the next change is shown when it is made', () => {
    const review = reviewing([aChange('one', { decision: { ...somebody, verdict: 'pending' } }), aChange('two')])
    review.press('a')
    expect(review.sent()).toEqual([{ change_set_id: 'one', verdict: 'accept', version: 7 }])
    expect(review.screen()).toContain('sending …')
    review.answer(madeDecisions({ id: 'one', verdict: 'accepted' }))
    expect(review.screen()).toContain('lint a.py two')
    expect(review.screen()).toContain('2 of 2')
    expect(review.screen()).toContain('1 accepted, 0 rejected')
    expect(review.screen()).toContain('accepted lint a.py one')
    expect(review.kinds()).toEqual(['look'])
  })

  it('is not followed by another before it is answered: nobody decides on what they have not seen', () => {
    const review = reviewing()
    review.press('a')
    const sending = review.effects()
    review.press('a', 'r', 'n')
    expect(review.effects()).toEqual([])
    expect(review.state().at).toBe(0)
    review.take({
      kind: 'failed',
      effect: { kind: 'decide', decisions: [] },
      message: 'CONFIG_006 the service does not answer',
    })
    expect(review.screen()).toContain('CONFIG_006 the service does not answer')
    review.press('a')
    expect(review.effects()).toEqual(sending)
  })

  it('to reject asks for a word, which Escape and an empty line take back', () => {
    const review = reviewing()
    review.press('w', 'N', 'o', ' ', 'q', 'backspace', 'x')
    expect(review.screen()).toContain('Why? No x▏')
    review.press('escape')
    expect(review.sent()).toEqual([])
    review.press('w', 'n', 'o', 'left', 'left', 's', 'o', ' ', 'end', '!', 'left', 'delete', '.', 'return')
    expect(review.sent()).toMatchObject([{ verdict: 'reject', reason: 'so no.' }])
    review.fail('STORE_001 try again')
    review.press('w', 'a', ' ', 'b', 'b', ' ', 'c', 'alt-backspace', 'alt-b', '+', 'alt-f', '!')
    expect(review.screen()).toContain('Why? a +bb!▏')
    review.press('alt-left', 'alt-d')
    expect(review.screen()).toContain('Why? a ▏')
    review.press('escape', 'w', 'return')
    expect(review.screen()).toContain('without a word, nothing is rejected')
    review.press('w')
    review.take({ kind: 'pasted', text: 'too\nlong\n' })
    review.press('return')
    expect(review.sent()).toEqual([{ change_set_id: 'one', verdict: 'reject', version: 0, reason: 'too long' }])
  })

  it('is taken back: that on the shown change, else the last one', () => {
    const review = reviewing()
    review.press('a')
    review.answer(madeDecisions({ id: 'one', verdict: 'accepted' }))
    review.press('u')
    expect(review.sent()).toEqual([{ change_set_id: 'one', verdict: 'undo', version: 3 }])
    review.answer(madeDecisions({ id: 'one', verdict: 'pending', was: 'accepted' }))
    expect(review.screen()).toContain('pending again lint a.py one (was accepted)')
    expect(review.state().at).toBe(0)
    review.press('u')
    expect(review.screen()).toContain('nothing to take back')
  })

  it('that somebody else has made meanwhile is shown instead of overwritten, and can be overruled then', () => {
    const review = reviewing()
    review.press('a')
    const detail = 'human/t0 has decided otherwise on one: it is rejected.'
    const refused = [{ change_set_id: 'one', error_code: 'WORK_003', detail, decision: somebody }]
    review.answer({ ...madeDecisions(), refused_count: 1, refused })
    expect(review.screen()).toContain('not sent: human/t0 has decided otherwise')
    expect(review.screen()).toContain('rejected by human/t0, 2026-05-01 12:30 UTC: not so')
    expect(review.state().at).toBe(0)
    review.press('a')
    expect(review.sent()).toEqual([{ change_set_id: 'one', verdict: 'accept', version: 7 }])
  })
})

describe('what the service answers', () => {
  it('is not taken when it is older than a decision that was made here meanwhile', () => {
    const review = reviewing()
    review.press('a')
    review.answer(madeDecisions({ id: 'one', verdict: 'accepted' }))
    review.take({ kind: 'looked', id: 'one', changes: [aChange('one')], summary: 'Did it.' })
    expect(review.screen()).toContain('1 accepted, 0 rejected')
    const decision = { ...somebody, version: 9 }
    review.take({
      kind: 'looked',
      id: 'one',
      changes: [aChange('one', { verdict: 'rejected', decision })],
      summary: '',
    })
    expect(review.screen()).toContain('0 accepted, 1 rejected')
  })
})

describe('a change that collides with an accepted one', () => {
  const node = (name: string) => ({ path: 'a.py', qualified_name: name })
  const other = {
    change_set_id: 'zero',
    operation_id: 'o-zero',
    agent: 'docstring',
    node: node('zero'),
    text: 'b = 0\n',
  }
  const own = { change_set_id: 'one', operation_id: 'o-one', agent: 'lint', node: node('one'), text: 'b = 1\n' }
  const conflict = { ...own, path: 'a.py', error_code: 'WORK_001', reason: 'overlaps', with: other }
  const detail = 'cannot be accepted'
  const accepted = { ...somebody, verdict: 'accepted', version: 5 }
  const refused = [{ change_set_id: 'one', error_code: 'WORK_001', detail, conflict, with_decision: accepted }]

  function collided(verdict = 'a') {
    const review = reviewing()
    review.press(verdict)
    review.answer({ ...madeDecisions(), refused_count: 1, refused })
    return review
  }

  it('is shown with both texts', () => {
    const screen = collided().screen()
    expect(screen).toContain('Not accepted: WORK_001  lint o-one a.py one collides with')
    expect(screen).toContain('lint a.py one would make of it:\n  | b = 1\n')
    expect(screen).toContain('docstring a.py zero, which is accepted, makes of it:\n  | b = 0\n')
    expect(screen).toContain('i this one instead')
  })

  it('is accepted instead of the other one as it was seen, in one request', () => {
    const review = collided()
    review.press('i')
    expect(review.sent()).toEqual([
      { change_set_id: 'zero', verdict: 'undo', version: 5 },
      { change_set_id: 'one', verdict: 'accept', version: 0 },
    ])
    review.answer(
      madeDecisions({ id: 'zero', verdict: 'pending', was: 'accepted' }, { id: 'one', verdict: 'accepted' }),
    )
    expect(review.state().at).toBe(1)
    expect([...review.state().decided.keys()]).toEqual(['one'])
  })

  it('is accepted instead of the other one and of what is built on that, which is named first', () => {
    const review = collided()
    review.press('i')
    const why = 'docstring a.py zero cannot be taken back: built on it is lint a.py last'
    const blocked = {
      change_set_id: 'zero',
      error_code: 'WORK_001',
      detail: why,
      blocked_by: [{ change_set_id: 'last' }],
    }
    review.answer({ ...madeDecisions(), refused_count: 2, refused: [blocked, ...refused] })
    expect(review.screen().replaceAll(/\s+/g, ' ')).toContain(`Not accepted: WORK_001 ${why}`)
    expect(review.screen()).toContain('i this one instead of all these')
    review.press('d')
    expect(review.effects()).toEqual([])
    review.press('i')
    const undo = { change_set_id: 'zero', verdict: 'undo', version: 5 }
    const accept = { change_set_id: 'one', verdict: 'accept', version: 0 }
    expect(review.effects()).toEqual([{ kind: 'decide', decisions: [undo, accept], withDependents: true }])
    review.answer(
      madeDecisions(
        { id: 'zero', verdict: 'pending', was: 'accepted' },
        { id: 'last', verdict: 'pending', was: 'accepted' },
        { id: 'one', verdict: 'accepted' },
      ),
    )
    expect(review.screen()).toContain('also pending again lint a.py zero')
    expect(review.state().at).toBe(1)
  })

  it.each([
    ['one', 'it is rejected'],
    ['zero', 'it is accepted'],
  ])('takes nothing back when somebody has decided on %s meanwhile, and says who', (id, what) => {
    const review = collided()
    review.press('i')
    const late = { change_set_id: id, error_code: 'WORK_003', detail: `human/t0 has decided otherwise: ${what}` }
    const decision = { ...somebody, verdict: what.slice(6) }
    review.answer({ ...madeDecisions(), refused_count: 2, refused: [{ ...late, decision }, ...refused] })
    expect(review.screen()).toContain(`not sent: ${late.detail}`)
    expect(review.state()).toMatchObject({ at: 0, mode: { kind: 'looking' } })
  })
})

describe('a change that others are built on', () => {
  const detail = 'lint a.py one cannot be rejected: built on it is docstring a.py two'
  const refused = [{ change_set_id: 'one', error_code: 'WORK_001', detail, blocked_by: [{ change_set_id: 'two' }] }]

  it('is rejected with them when the reviewer says so, for the same reason', () => {
    const review = reviewing()
    review.press('w', 'n', 'o', 'return')
    review.answer({ ...madeDecisions(), refused_count: 1, refused })
    expect(review.screen()).toContain('Not rejected: WORK_001  lint a.py one cannot be rejected')
    expect(review.screen()).toContain('d with what is built on it')
    review.press('d')
    const rejected = { change_set_id: 'one', verdict: 'reject', version: 0, reason: 'no' }
    expect(review.effects()).toEqual([{ kind: 'decide', decisions: [rejected], withDependents: true }])
    review.answer(
      madeDecisions({ id: 'two', verdict: 'rejected', reason: 'no' }, { id: 'one', verdict: 'rejected', reason: 'no' }),
    )
    expect(review.screen()).toContain('0 accepted, 2 rejected')
  })
})
