import { expect, it } from 'vitest'
import { aRun } from '../answers.fixture.ts'
import { eventsOf } from './events.fixture.ts'
import { foldProgress } from './fold-progress.ts'
import { liveLines } from './live-lines.ts'
import { emptyProgress } from './progress-state.ts'

const noon = Date.parse('2026-01-01T12:00:00Z')
const active = (name: string, secondsAgo: number, more: object = {}) => ({
  agent: 'lint',
  path: 'a.py',
  qualified_name: name,
  status: 'running',
  current_step: 'planning',
  doing: 'model',
  since: new Date(noon - secondsAgo * 1_000).toISOString(),
  ...more,
})
const going = aRun({
  current_step: 'works on operations: 5 wait for an answer of the model',
  counts: { ready: 1_200, dispatched: 30, pending: 2, waiting: 1 },
  last_minute: { operations: 12, tokens_in: 1_200, tokens_out: 40 },
  estimated_end: { at: new Date(noon + 299_300).toISOString(), how: '60 operations left' },
  active_operations: [
    active('one', 3),
    active('two', 40, { current_step: 'executing_tools', doing: 'tool', tool: 'run_tests' }),
    active('three', 2),
    active('four', 1),
    active('five', 8, { current_step: 'observing', doing: 'slot' }),
    active('six', 900, { status: 'waiting', doing: 'person' }),
  ],
})
const found = ['one', 'two', 'three', 'four'].map((claim) => ({
  event: 'finding.reported',
  operation_id: 'o1',
  agent: 'review',
  data: { claim, path: 'a.py', line: 7 },
}))

it('says what the run does, its pace and its end, what runs for the longest, what waits, and what was found last', () => {
  const state = { ...eventsOf(found).reduce(foldProgress, emptyProgress('r1')), seen: going }
  const findings = ['two', 'three', 'four'].map((claim) => `finding     review a.py:7: ${claim}`)
  expect(liveLines(state, noon)).toEqual([
    'now         works on operations: 5 wait for an answer of the model',
    'pace        12 operations, 1,200 tokens in, 40 out in the last minute',
    'end         in about 5 min 00 s: 60 operations left',
    'running     lint two: executing tools, runs run_tests for 40.0 s (a.py)',
    'running     lint five: observing, waits for a slot of the model servers for 8.0 s (a.py)',
    'running     lint one: planning, waits for an answer of the model for 3.0 s (a.py)',
    'running     lint three: planning, waits for an answer of the model for 2.0 s (a.py)',
    'waiting     1,230 for a free worker, 2 for other operations, 1 for a person',
    ...findings,
  ])
  expect(liveLines({ ...state, status: 'completed' }, noon)).toEqual(findings)
})
