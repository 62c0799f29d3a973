import { expect, it } from 'vitest'
import type { AgendaDecision, AgendaItemView, RunAgenda } from '#schemas/agenda-schema.ts'
import { anAgendaItem } from '../answers.fixture.ts'
import { openPaint } from '../terminal-text.ts'
import { describeAgenda } from './describe-agenda.ts'

const none = { succeeded: 0, unchanged: 0, failed: 0, blocked: 0, skipped: 0, cancelled: 0 }
const counts = {
  planned: 0,
  open: 0,
  ended: none,
  change_sets: 0,
  left: 0,
  findings: 0,
  tokens: 0,
  faults: {},
  estimate: null,
  fault: null,
}

const aDecision = (decision: Partial<AgendaDecision>): AgendaDecision => ({
  seq: 6,
  follows_from: null,
  ts: '2026-05-01T12:00:00.000Z',
  kind: 'plan',
  summary: '',
  item_ids: [],
  cited: [],
  plan_hash: null,
  rationale: null,
  confidence: null,
  reason: null,
  given: null,
  model: null,
  tokens: null,
  decided_by: 'conductor/c',
  ...decision,
})

const agendaOf = (items: AgendaItemView[], decisions: AgendaDecision[] = []): RunAgenda => ({
  run_id: 'r1',
  objective: 'tidy',
  approval: null,
  items,
  decisions,
  messages_waiting: 0,
  answer: null,
})

const shown = (agenda: RunAgenda) => describeAgenda(agenda, { paint: openPaint(false), width: 80 })

it('says what became of each item: what failed, what a push has touched, what cannot be planned', () => {
  const ended = { ...none, succeeded: 6, failed: 2 }
  const failing = { ...counts, planned: 9, open: 1, ended, findings: 1, faults: { AGENT_004: 2 } }
  const fault = { error_code: 'AGENT_001', reason: 'its bundle is broken' }
  const where = { paths: ['src/**', 'lib'], languages: ['python'], kinds: ['function'] }
  const agenda = agendaOf([
    anAgendaItem({ item_id: 'lint', status: 'active', retries: 1, counts: failing }),
    anAgendaItem({ item_id: 'docs', status: 'stale', where, depends_on: ['lint'] }),
    anAgendaItem({ item_id: 'types', status: 'blocked', counts: { ...counts, fault } }),
    anAgendaItem({ item_id: 'more', counts: { ...counts, estimate: { operations: 3, tokens: 0 } } }),
    anAgendaItem({ item_id: 'rest', status: 'ended', counts: { ...counts, left: 2 } }),
  ])
  expect(shown(agenda)).toBe(`objective   tidy

lint: active, tried again 1 time, 9 operations: 6 succeeded, 2 failed, 1 open; 2
  because of AGENT_004; 1 finding
  lint everywhere: clean it
docs: stale, after lint
  lint in function of python of src/**, lib: clean it
  a push has touched what it reads: it is not done as it was planned
types: blocked: AGENT_001 its bundle is broken
  lint everywhere: clean it
more: waiting, 3 operations without a model
  lint everywhere: clean it
rest: ended, with 2 not done
  lint everywhere: clean it
`)
})

it('quotes an answer of the model that was no decision, without what a terminal would obey', () => {
  const invalid = aDecision({
    kind: 'invalid',
    reason: 'there is no item x',
    given: '{"kind":"\u001b[2J"}',
    model: 'm',
  })
  expect(shown(agendaOf([], [invalid]))).toContain(
    'event 6: no valid decision: there is no item x (m)\n  it answered {"kind":""}\n',
  )
})
