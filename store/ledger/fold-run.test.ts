import { describe, expect, it } from 'vitest'
import type { RunStatus } from '#domain/run.ts'
import { eventsOf, type GivenEvent } from './events.fixture.ts'
import { foldRun } from './fold-run.ts'

function faults(status: RunStatus, given: readonly GivenEvent[]): string[] {
  const fold = foldRun()
  for (const event of eventsOf(given)) fold.take(event)
  return fold.violations({ status }).map(({ message }) => message)
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
