import { expect, it } from 'vitest'
import { eventsOf, plannedRun } from './events.fixture.ts'
import { foldProgress } from './fold-progress.ts'
import { liveLines } from './live-lines.ts'
import { emptyProgress } from './progress-state.ts'

const noon = Date.parse('2026-01-01T12:00:00Z')
const of = (id: number, event: string, more: object = {}) => ({
  event,
  operation_id: `o${id}`,
  agent: 'review',
  ...more,
})
const endings = Array.from({ length: 30 }, (_none, at) =>
  of(at, 'operation.ended', { atMs: at * 5_000, data: { status: 'unchanged', tokens: 100 } }),
)
const found = ['one', 'two', 'three', 'four'].map((claim) =>
  of(1, 'finding.reported', { atMs: 145_000, data: { claim, path: 'a.py', line: 7 } }),
)

it('says the pace of the last minute, what operations wait for, and what was found last', () => {
  const asked = [
    of(40, 'model.requested'),
    of(41, 'model.requested'),
    of(42, 'tool.called', { tool_name: 'run_tests' }),
  ]
  const planned = plannedRun.map((event) =>
    event.event === 'run.planned' ? { ...event, data: { operations: 90 } } : event,
  )
  const events = eventsOf([...planned, ...endings, ...found, ...asked.map((event) => ({ ...event, atMs: 145_000 }))])
  const state = { ...events.reduce(foldProgress, emptyProgress('r1')), inQueue: 1_200 }
  const [pace, ...rest] = liveLines(state, noon + 145_000)
  expect(pace).toBe('pace        12 operations, 1,200 tokens in the last minute, about 5 min 00 s left')
  expect(rest).toEqual([
    'waiting     2 for the model, 1 for run_tests, 1,200 for a free worker',
    ...['two', 'three', 'four'].map((claim) => `finding     review a.py:7: ${claim}`),
  ])
  expect(liveLines(state, noon + 300_000)).toEqual(rest)
})
