import { expect, test } from 'vitest'
import type { ChangeView } from '#schemas/change-schema.ts'
import type { DecisionView } from '#schemas/decision-schema.ts'
import { planBulk } from './review-bulk.ts'
import { keptRows, nextRow, rowsOf, shownSets } from './review-filter.ts'
import {
  decisionIn,
  verdictOf,
  withAnswer,
  withDecisions,
  withListed,
  withoutSending,
  withSent,
} from './review-fold.ts'

function change(id: string, given: Partial<ChangeView> = {}): ChangeView {
  return {
    change_set_id: id,
    operation_id: 'o0000000000000001',
    agent: 'lint',
    node_id: 'n0000000000000001',
    path: 'a.py',
    qualified_name: 'f',
    rules: [],
    built_on: [],
    needed_by: [],
    files: [{ path: 'a.py', kind: 'edit' }],
    diff: '',
    evidence: [{ check: 'parses', path: 'a.py', ok: true, tool: 't' }],
    generation: 1,
    is_redone: false,
    verdict: 'pending',
    decision: null,
    ...given,
  }
}

const decision = (verdict: DecisionView['verdict'], version: number): DecisionView => ({
  verdict,
  version,
  reason: null,
  decided_at: '2026-01-01T00:00:00.000Z',
  decided_by: 'human/eve',
})
const made = (verdict: DecisionView['verdict'], version: number) => ({ verdict, decision: decision(verdict, version) })
const listed = (...changes: ChangeView[]) => withListed(new Map(), changes)
const verdictsIn = (sets: ReturnType<typeof listed>) => [...sets.values()].map(verdictOf)
const wanted = (id: string, verdict: 'accept' | 'reject' | 'undo') => ({ change_set_id: id, verdict, version: 0 })
const author = { operation_id: 'o0000000000000001', agent: 'lint', path: 'a.py', qualified_name: 'f' } as const

test('a decision is shown at once, and stands by the answer, with what was decided with it', () => {
  const sent = withSent(listed(change('c1'), change('c2')), [wanted('c1', 'accept')])
  expect(verdictsIn(sent)).toEqual(['accepted', 'pending'])
  const rows = ['c1', 'c2'].map((id) => ({
    ...author,
    change_set_id: id,
    ...made('accepted', 9),
    made: true,
    was: 'pending' as const,
  }))
  const answered = withAnswer(sent, [wanted('c1', 'accept')], { decisions: rows, refused: [] })
  expect([...answered.values()].map((set) => [set.change.verdict, set.sending])).toEqual([
    ['accepted', undefined],
    ['accepted', undefined],
  ])
})

test('a refused decision is taken back and says why; a late one shows what the other has decided', () => {
  const sets = listed(change('c1'), change('c2'))
  const asked = [wanted('c1', 'accept'), wanted('c2', 'accept')]
  const refused = [
    { change_set_id: 'c1', error_code: 'WORK_001', detail: 'collides' },
    { change_set_id: 'c2', error_code: 'WORK_003', detail: 'late', decision: decision('rejected', 5) },
  ] as const
  const answered = withAnswer(withSent(sets, asked), asked, { decisions: [], refused: [...refused] })
  expect(verdictsIn(answered)).toEqual(['pending', 'rejected'])
  expect([...answered.values()].map((set) => set.refused?.by.error_code)).toEqual(['WORK_001', 'WORK_003'])
})

test('a request that failed leaves all as it was', () => {
  const sets = listed(change('c1'))
  expect(verdictsIn(withoutSending(withSent(sets, [wanted('c1', 'reject')]), [wanted('c1', 'reject')]))).toEqual([
    'pending',
  ])
})

test('the decision of another is shown unless something newer is known', () => {
  const sets = listed(change('c1', made('accepted', 7)))
  const after = (id: string, version: number) => withDecisions(sets, [{ id, decision: decision('rejected', version) }])
  expect(verdictsIn(after('c1', 6))).toEqual(['accepted'])
  expect(verdictsIn(after('c1', 8))).toEqual(['rejected'])
  expect(after('c9', 8)).toEqual(sets)
})

test('a list that was read before a decision does not take it back', () => {
  const sets = withListed(listed(change('c1', made('accepted', 7))), [change('c1', made('pending', 3))])
  expect(verdictsIn(sets)).toEqual(['accepted'])
})

test('what was made again since is not reviewed, unless it is accepted', () => {
  const redone = { is_redone: true }
  expect([...listed(change('c1', redone), change('c2', { ...redone, ...made('accepted', 1) })).keys()]).toEqual(['c2'])
})

test('only a whole event decision.made is a decision', () => {
  const event = { v: 1, seq: 4, ts: '2026-01-01T00:00:00.000Z', project_id: 'p', run_id: 'r1', generation: 1 } as const
  const rest = {
    category: 'decision',
    phase: 'review',
    status: 'ok',
    correlation_id: 'x',
    event: 'decision.made',
  } as const
  const origin = { kind: 'human', id: 'eve' } as const
  const data = { change_set_id: 'c1', verdict: 'rejected', reason: 'no', decided_by_name: 'Eve' }
  expect(decisionIn({ ...event, ...rest, origin, data })).toEqual({
    id: 'c1',
    decision: { ...decision('rejected', 4), reason: 'no', decided_by_name: 'Eve' },
  })
  expect(decisionIn({ ...event, ...rest, origin, data: { verdict: 'rejected' } })).toBeUndefined()
})

test('a change that was decided on stays in sight while the filter is the same', () => {
  const sets = listed(
    change('c1', made('accepted', 1)),
    change('c2'),
    change('c3', { agent: 'docstring', path: 'b.py', files: [] }),
  )
  const ids = (filter: Parameters<typeof shownSets>[1], kept: string[] = []) =>
    shownSets(sets, filter, new Set(kept)).map((set) => set.change.change_set_id)
  expect(ids({ verdict: 'pending' })).toEqual(['c2', 'c3'])
  expect(ids({ verdict: 'pending' }, ['c1'])).toEqual(['c1', 'c2', 'c3'])
  expect(ids({ evidence: 'left_out' })).toEqual([])
  expect(ids({ path: 'B.PY', agent: 'docstring' })).toEqual(['c3'])
})

test('by file, a change of two files stands under both, and keys pass the heads of files', () => {
  const files = [
    { path: 'b.py', kind: 'edit' },
    { path: 'a.py', kind: 'edit' },
  ] as const
  const rows = rowsOf(shownSets(listed(change('c1', { files: [...files] })), {}, new Set()), true)
  expect(rows.map((row) => (row.kind === 'file' ? row.path : `${row.id} in ${row.path}`))).toEqual([
    'a.py',
    'c1 in a.py',
    'b.py',
    'c1 in b.py',
  ])
  expect(keptRows(rows, structuredClone(rows))).toBe(rows)
  expect(keptRows(rows, rows.slice(1))).not.toBe(rows)
  expect(nextRow(rows, 1, { step: 1 })).toBe(3)
  expect(nextRow(rows, 3, { step: 1 })).toBeUndefined()
})

test('a bulk decision says what it sends, what it leaves, and what comes with it', () => {
  const conflict = {
    path: 'a.py',
    change_set_id: 'c3',
    operation_id: 'o1',
    error_code: 'WORK_001',
    reason: 'r',
  } as const
  const sets = listed(
    change('c1', { built_on: ['c6'] }),
    change('c2', made('accepted', 1)),
    change('c3', { conflict }),
    change('c4', made('rejected', 2)),
    change('c5', { built_on: ['c4'], agent: 'docstring' }),
    change('c6', { agent: 'other' }),
  )
  const shown = shownSets(sets, {}, new Set()).filter(({ change: { agent } }) => agent !== 'other')
  const plan = planBulk('accept', shown, sets)
  expect(plan.wanted.map((one) => one.change_set_id)).toEqual(['c1'])
  expect(plan.leftOut.map(({ set }) => set.change.change_set_id)).toEqual(['c3', 'c5'])
  expect([plan.already, plan.otherwise, plan.failing, plan.unchecked]).toEqual([1, 1, 0, 0])
  expect(plan.withThem.map((set) => set.change.change_set_id)).toEqual(['c6'])
  expect(planBulk('undo', shown, sets).wanted.map((one) => [one.change_set_id, one.version])).toEqual([
    ['c2', 1],
    ['c4', 2],
  ])
})
