import { describe, expect, it } from 'vitest'
import type { AgendaState, InboxMessage } from '#domain/agenda.ts'
import { anAgenda, anItem, anItemState, because, someCounts } from './agenda.fixture.ts'
import { applyDecision, beginReady, fruitlessBefore } from './apply-decision.ts'
import { decisionFaults, type PlannerDecision } from './decision-faults.ts'

const ended = anItemState('done', { status: 'ended', result: someCounts() })
const waiting = anItemState('later', { depends_on: ['done'] })
const agenda = anAgenda([ended, waiting])

const faultsOf = (decision: PlannerDecision, state: AgendaState = agenda) =>
  decisionFaults(decision, {
    state,
    capabilities: ['lint', 'docstring'],
    lastSeq: 20,
    paths: new Set(['a.py']),
    findings: new Set(['a.py:3']),
  })
const followUp = (...items: ReturnType<typeof anItem>[]): PlannerDecision => ({
  kind: 'follow_up',
  items,
  rationale: because,
})
const retry = (item_id: string): PlannerDecision => ({ kind: 'retry', item_id, rationale: because })
const answer = { text: 'done', events: [20], paths: ['a.py'], findings: [{ path: 'a.py', line: 3 }] }

describe('a decision', () => {
  it.each<[string, PlannerDecision]>([
    ['that adds an item after one that there is', followUp(anItem('next', { depends_on: ['done'] }))],
    ['that begins what waits', { kind: 'dispatch', item_ids: ['later'], rationale: because }],
    ['that tries again what ended', retry('done')],
    ['that answers with what exists', { kind: 'complete', answer, rationale: because }],
    [
      'that takes the place of what has not begun',
      { kind: 'refine', objective: 'o', items: [anItem('later')], rationale: because },
    ],
    ['that gives up', { kind: 'block', reason: 'no way', rationale: because }],
  ])('%s can be carried out', (_what, decision) => {
    expect(faultsOf(decision)).toEqual([])
  })

  it.each<[string, PlannerDecision, RegExp]>([
    [
      'with a capability that the run does not have',
      followUp(anItem('x', { capability: 'fly' })),
      /no capability "fly", only lint, docstring/,
    ],
    ['with a name twice', followUp(anItem('done')), /two items done/],
    [
      'that depends on nothing that there is',
      followUp(anItem('x', { depends_on: ['ghost'] })),
      /depends on ghost, which is no item/,
    ],
    [
      'with items that wait for each other',
      followUp(anItem('x', { depends_on: ['y'] }), anItem('y', { depends_on: ['x'] })),
      /in a circle: x, y/,
    ],
    ['that begins what has ended', { kind: 'dispatch', item_ids: ['done'], rationale: because }, /done is ended/],
    ['about an item that is not there', retry('ghost'), /no item ghost: the items are done, later/],
    ['that tries again what has not ended', retry('later'), /has not ended/],
    [
      'with an event that has not happened',
      { kind: 'block', reason: 'r', rationale: { ...because, events: [21] } },
      /no event 21, the last one is 20/,
    ],
    [
      'that cites a file that is not there',
      { kind: 'complete', answer: { ...answer, paths: ['b.py'] }, rationale: because },
      /no file b\.py/,
    ],
    [
      'that cites what nobody found',
      { kind: 'complete', answer: { ...answer, findings: [{ path: 'a.py', line: 4 }] }, rationale: because },
      /nothing was found at a\.py:4/,
    ],
  ])('%s says what cannot be', (_what, decision, words) => {
    expect(faultsOf(decision).join('; ')).toMatch(words)
  })

  it('may try an item again twice', () => {
    const tried = (retries: number) => anAgenda([{ ...ended, retries }])
    expect([0, 1, 2].map((times) => faultsOf(retry('done'), tried(times)).length)).toEqual([0, 0, 1])
  })

  it('has no more items than an agenda may have', () => {
    const many = Array.from({ length: 63 }, (_, at) => anItem(`n${at}`))
    expect(faultsOf(followUp(...many)).join()).toMatch(/may have 64 items, not 65/)
  })
})

describe('what a decision makes of the agenda', () => {
  const decided = { model: 'm', progress: 0, approves: false, now: 1000 }

  it('begins at once what is ready, and nothing of a plan that a person approves', () => {
    const plan: PlannerDecision = {
      kind: 'plan',
      items: [anItem('a'), anItem('b', { depends_on: ['a'] })],
      rationale: because,
    }
    const none = anAgenda([], { bootstrap: null })
    expect(beginReady(applyDecision(none, plan, decided).state).dispatch).toEqual(['a'])
    expect(beginReady(applyDecision(none, plan, { ...decided, approves: true }).state).dispatch).toEqual([])
  })

  it('begins an item although what it depends on has not ended well, and only then', () => {
    const failed = { ...ended, result: someCounts({ ended: { failed: 1 } }) }
    const stuck = anAgenda([failed, waiting])
    const { state, begin } = applyDecision(
      stuck,
      { kind: 'dispatch', item_ids: ['later'], rationale: because },
      decided,
    )
    expect([beginReady(stuck).dispatch, beginReady(state, begin).dispatch]).toEqual([[], ['later']])
    const tried = anAgenda([failed, { ...waiting, status: 'ended', result: someCounts() }])
    const again = applyDecision(tried, retry('later'), decided)
    expect(beginReady(again.state, again.begin).dispatch).toEqual(['later'])
  })

  it('asks for a new approval when the plan has changed, and for none when an item is only tried again', () => {
    const approval = applyDecision(
      anAgenda([], { bootstrap: null }),
      { kind: 'plan', items: [anItem('done')], rationale: because },
      { ...decided, approves: true },
    ).state.approval
    const approved = anAgenda([ended], { approval: approval && { ...approval, by: 'me', at: 5 } })
    expect(applyDecision(approved, retry('done'), decided).state.approval).toMatchObject({ by: 'me' })
    const wider = applyDecision(approved, followUp(anItem('more')), decided).state.approval
    expect(wider).toMatchObject({ wanted_since: 1000 })
    expect(wider).not.toHaveProperty('by')
  })

  it('ends what never began with the answer, and forgets what it has heard', () => {
    const heard = [{ kind: 'reopened' as const }]
    const { state, close } = applyDecision(
      { ...agenda, heard },
      { kind: 'complete', answer, rationale: because },
      decided,
    )
    expect(state.items.map(({ status }) => status)).toEqual(['ended', 'cancelled'])
    expect([state.answer, state.heard, close]).toEqual([answer, undefined, { kind: 'done' }])
  })

  it('leaves unheard what it has not taken in: what was said waits until it is in the objective, the rest until something is decided', () => {
    const heard: InboxMessage[] = [{ kind: 'said', text: 'and docs', by: 'me' }, { kind: 'reopened' }]
    const after = (decision: PlannerDecision) => applyDecision({ ...agenda, heard }, decision, decided).state.heard
    expect(after({ kind: 'plan', items: [], rationale: because })).toEqual([heard[0]])
    expect(after({ kind: 'refine', objective: 'o', items: [], rationale: because })).toEqual([heard[1]])
    expect(after(retry('done'))).toBeUndefined()
  })

  it('counts decisions in a row that brought nothing new, from the second one on', () => {
    const first = applyDecision(agenda, followUp(anItem('x')), decided).state
    expect([fruitlessBefore(agenda, 0), fruitlessBefore(first, 0), fruitlessBefore(first, 1)]).toEqual([0, 1, 0])
    const second = applyDecision(first, followUp(anItem('y')), decided).state
    expect(fruitlessBefore(second, 0)).toBe(2)
  })
})
