import { describe, expect, it } from 'vitest'
import type { RunStatus } from '#domain/run.ts'
import { eventsOf, type GivenEvent } from './events.fixture.ts'
import { foldRun } from './fold-run.ts'

function faults(status: RunStatus, given: readonly GivenEvent[], generation = 1): string[] {
  const fold = foldRun()
  for (const event of eventsOf(given)) fold.take(event)
  return fold.violations({ status, generation }).map(({ message }) => message)
}

const begun: GivenEvent[] = [['run.accepted'], ['run.started']]

describe('the run’s own events', () => {
  it.each<[string, RunStatus, GivenEvent[]]>([
    ['is queued', 'queued', [['run.accepted']]],
    ['goes on', 'running', begun],
    ['is completed', 'completed', [...begun, ['run.composed'], ['run.completed']]],
    ['failed', 'failed', [...begun, ['run.failed']]],
    ['was cancelled before it started', 'cancelled', [['run.accepted'], ['run.cancelled']]],
  ])('agree with a run that %s', (_what, status, given) => {
    expect(faults(status, given)).toEqual([])
  })

  it('begin anew with each reopening, with one end at most in each', () => {
    const reopened: GivenEvent[] = [...begun, ['run.failed'], ['run.reopened']]
    expect(faults('running', reopened, 2)).toEqual([])
    expect(faults('completed', [...reopened, ['operations.repeated'], ['run.completed']], 3)).toEqual([])
    expect(faults('completed', reopened, 2)).toHaveLength(1)
    expect(faults('running', [...begun, ['run.reopened']])).toEqual([
      'event 3 run.reopened: the run had not ended',
      'the run is in generation 1, its events in generation 2',
    ])
  })

  it.each<[string, RunStatus, GivenEvent[], string]>([
    ['was accepted twice', 'running', [...begun, ['run.accepted']], 'the events have run.accepted 2 times'],
    ['started before it was accepted', 'running', [['run.started'], ['run.accepted']], 'run.accepted is not the first'],
    ['started twice', 'running', [...begun, ['run.started']], 'the events have run.started 2 times'],
    ['never started', 'failed', [['run.accepted'], ['run.failed']], 'its events have no run.started'],
    ['goes on after its end', 'running', [...begun, ['run.failed']], 'the run is running, its events have run.failed'],
    ['has no end', 'completed', begun, 'its events have no end instead of run.completed'],
    ['ended otherwise', 'completed', [...begun, ['run.failed']], 'its events have run.failed instead of run.completed'],
    ['ended twice', 'failed', [...begun, ['run.failed'], ['run.failed']], 'have run.failed and run.failed instead of'],
    [
      'has an event after its end',
      'completed',
      [...begun, ['run.completed'], ['operation.skipped', 'a']],
      'event 4 operation.skipped comes after run.completed, the end of the run',
    ],
  ])('disagree with a run that %s', (_what, status, given, fault) => {
    expect(faults(status, given)).toEqual([expect.stringContaining(fault)])
  })
})
