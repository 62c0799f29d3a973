import { describe, expect, it } from 'vitest'
import { escalationKinds } from '#domain/agenda.ts'
import type { Event } from '#domain/event.ts'
import { dataFault } from '#domain/events/event-table.ts'
import type { WatchWindow } from '#domain/events/watcher-events.ts'
import { watchClock, watchEvents } from './detectors.ts'
import { aHistory, type History, type TroubleKind } from './histories.fixture.ts'
import { usualThresholds } from './usual-thresholds.fixture.ts'
import { unwatched, type WatchState } from './watch-state.ts'

/** Those that the thresholds were tuned with are 1 to 999. */
const firstSeed = 43_000_000
const each = 5
const lookMs = 30_000

type Chosen = WatchWindow & { at: number }

/** Plays a history as the watcher meets it: what has come every half minute, and then the clock while the run does not say that it waits. */
function windowsOf({ events, budget }: Pick<History, 'events' | 'budget'>): Chosen[] {
  const by = { thresholds: usualThresholds, budget }
  const chosen: Chosen[] = []
  let [state, waits] = [unwatched, false]
  const note = (after: WatchState, at: (window: WatchWindow) => number) => {
    chosen.push(...after.pending.map((window) => ({ ...window, at: at(window) })))
    state = { ...after, pending: [] }
  }
  const byLook = Map.groupBy(events, ({ ts }) => Math.ceil(ts / lookMs) * lookMs)
  const [first, last] = [Math.min(...byLook.keys()), Math.max(...byLook.keys())]
  for (let look = first; look <= last; look += lookMs) {
    const come = byLook.get(look) ?? []
    note(watchEvents(state, come, by), (window) => events[window.to_seq - 1]?.ts ?? look)
    if (come.length > 0) waits = come.at(-1)?.event === 'run.waiting'
    if (!waits) note(watchClock(state, look, by), () => look)
  }
  return chosen
}

const troubles = escalationKinds.flatMap((kind, at) =>
  Array.from({ length: each }, (_, n) => ({ kind, seed: firstSeed + 100 + at * each + n })),
)

describe('the detectors', () => {
  it('choose nothing of thirty healthy runs', () => {
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

function missed(history: History, kind: TroubleKind): string | undefined {
  const { from, until } = history.trouble ?? { from: 0, until: 0 }
  const windows = windowsOf(history)
  const early = windows.find(({ at }) => at < from)
  if (early !== undefined) return `before the trouble: ${early.why}`
  const first = windows.find((window) => window.kind === kind)
  if (first === undefined) return `never noticed; chosen: ${windows.map((window) => window.kind).join(', ')}`
  if (first.at > until) return `noticed ${Math.round((first.at - until) / 1000)} s too late`
  const planted = history.events.filter(({ ts }) => ts >= from).map(({ seq }) => seq)
  return (planted[0] ?? 0) <= first.to_seq ? undefined : 'the window has nothing of the trouble'
}
