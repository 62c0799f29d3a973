import { describe, expect, it } from 'vitest'
import { escalationKinds } from '#domain/agenda.ts'
import type { Event } from '#domain/event.ts'
import { dataFault } from '#domain/events/event-table.ts'
import { watchEvents } from './detectors.ts'
import { aHistory } from './histories.fixture.ts'
import { missed, windowsOf } from './judge-detectors.fixture.ts'
import { usualThresholds } from './usual-thresholds.fixture.ts'
import { unwatched } from './watch-state.ts'

/** Those that the thresholds were tuned with are 1 to 999. */
const firstSeed = 43_000_000
const each = 5
const troubles = escalationKinds.flatMap((kind, at) =>
  Array.from({ length: each }, (_, n) => ({ kind, seed: firstSeed + 100 + at * each + n })),
)

describe('the detectors', () => {
  it(`choose nothing of thirty healthy runs (seeds from ${firstSeed} on)`, () => {
    for (let seed = firstSeed; seed < firstSeed + 30; seed++) {
      const history = aHistory(seed)
      expect(windowsOf(history), `seed ${seed}, ${history.events.length} events`).toEqual([])
    }
  })

  it.each(troubles)(
    'choose a part of a run with a $kind in time, and nothing before it (seed $seed)',
    ({ kind, seed }) => {
      const history = aHistory(seed, kind)
      expect(missed(history, kind)).toBeUndefined()
    },
  )

  it('are judged by events that are as the table of events says', () => {
    const events = [aHistory(1), ...escalationKinds.map((kind) => aHistory(1, kind))].flatMap(
      (history) => history.events,
    )
    expect(events.flatMap(({ event, data }) => dataFault(event, data) ?? [])).toEqual([])
  })
})

describe('what the watcher has caused', () => {
  const by = { thresholds: usualThresholds, budget: null }
  const failed = aHistory(1).events.find(({ event }) => event === 'operation.ended')
  if (failed === undefined) throw new Error('the history has no end of an operation')
  const raised: Event = {
    ...failed,
    seq: 1,
    event: 'escalation.raised',
    origin: { kind: 'watcher', id: 'w1' },
    data: {},
  }
  const failures = (causeOf: (seq: number) => number) =>
    Array.from({ length: usualThresholds.failures_in_a_row }, (_, at): Event => {
      return { ...failed, seq: at + 2, causationSeq: causeOf(at + 2), data: { status: 'failed' } }
    })
  const chosen = (events: readonly Event[]) => watchEvents(unwatched, events, by).pending.map((window) => window.kind)

  it('is left out, by its origin and its causes', () => {
    expect(chosen([raised, ...failures(() => 1)])).toEqual([])
    expect(chosen([raised, ...failures((seq) => Math.min(2, seq - 1))])).toEqual([])
  })

  it('is looked at again where it is work of others that follows later', () => {
    expect(chosen([raised, ...failures(() => 9)])).toEqual(['failure_spike'])
  })

  it('moves the cursor all the same', () => {
    expect(watchEvents(unwatched, [raised], by).cursor).toBe(1)
  })
})
