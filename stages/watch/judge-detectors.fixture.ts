import type { WatchWindow } from '#domain/events/watcher-events.ts'
import { watchClock, watchEvents } from './detectors.ts'
import type { History, TroubleKind } from './histories.fixture.ts'
import { usualThresholds } from './usual-thresholds.fixture.ts'
import { unwatched, type WatchState } from './watch-state.ts'

const lookMs = 30_000

export type Chosen = WatchWindow & { at: number }

/** Plays a history as the watcher meets it: what has come every half minute, and then the clock while the run does not say that it waits. */
export function windowsOf({ events, budget }: Pick<History, 'events' | 'budget'>): Chosen[] {
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

/** Says why the planted trouble counts as missed; undefined: it was noticed in time, and nothing before it. */
export function missed(history: History, kind: TroubleKind): string | undefined {
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
