import { describe, expect, it } from 'vitest'
import { aRun } from '../answers.fixture.ts'
import { holdLine } from './describe-hold.ts'
import { eventsOf, plannedRun } from './events.fixture.ts'
import { foldProgress } from './fold-progress.ts'
import { emptyProgress } from './progress-state.ts'

const fold = (drafts: Parameters<typeof eventsOf>[0]) => eventsOf(drafts).reduce(foldProgress, emptyProgress('r1'))

const of = (id: string, event: string, more: object = {}) => ({ event, operation_id: id, agent: 'lint', ...more })
const atWork = [
  ...plannedRun,
  ...['o1', 'o2', 'o3'].flatMap((id) => [of(id, 'operation.started'), of(id, 'model.requested')]),
  of('o3', 'model.responded'),
  of('o3', 'tool.called', { tool_name: 'run_tests' }),
]

describe('a run in which nothing moves', () => {
  it.each([
    [{ counts: { running: 3 } }, atWork, '3 operations at work, waiting: 2 for the model, 1 for run_tests'],
    [{ counts: { dispatched: 1, ready: 4 } }, plannedRun, '1 operation in the queue, which no worker has taken'],
    [{ counts: { ready: 4 } }, plannedRun, '4 operations ready, which discovery has not given to the workers'],
    [{ phase: 'snapshot', status: 'queued' }, [], 'discovery is at its snapshot'],
    [{ phase: 'review' }, plannedRun, 'no worker has begun to compose its patch'],
  ])('says after half a minute what holds it: %j', (run, events, said) => {
    expect(holdLine(fold(events), aRun(run), 42_800)).toBe(`nothing has moved for 42.0 s: ${said}`)
    expect(holdLine(fold(events), aRun(run), 29_999)).toBeUndefined()
    expect(holdLine(fold(events), aRun({ ...run, status: 'completed' }), 42_800)).toBeUndefined()
    const waits = { ...run, waiting_for: [{ kind: 'answer', questions: 1 }] }
    expect(holdLine(fold(events), aRun(waits), 42_800)).toBeUndefined()
  })
})
