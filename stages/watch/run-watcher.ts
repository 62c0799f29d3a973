import type { RunId } from '#domain/ids.ts'
import { repeatEvery } from '#platform/clock.ts'
import { type Log, openStoreUser, type StoreLog } from '#platform/log.ts'
import { openSemaphore } from '#platform/limit-concurrency.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { ToldRange } from '#store/ledger/told-events.ts'
import { type WatchDeps, watchRun } from './watch-run.ts'

export type WatcherDeps = WatchDeps & {
  ledger: Pick<Ledger, 'activeRuns'>
  ranges: { take(count: number): Promise<ToldRange[]>; acknowledge(ids: readonly string[]): Promise<void> }
  log: StoreLog & Pick<Log, 'warn'>
}

/** Ranges that come within so long are looked at together. */
const gatherMs = 200
const mostWaiting = 200
/** Most of the time of a run goes to its reviews, and how many requests there are at once is the model pool's to say. */
const runsAtOnce = 16

/**
 * Watches all runs, together with any number of other processes: each run that has new events, and every `lookMs` each that is active,
 * since one that has stalled has none. A range is acknowledged when its run was watched after that, so that none is missed. The
 * returned function ends it.
 */
export function runWatcher(deps: WatcherDeps, { lookMs }: { lookMs: number }): () => Promise<void> {
  const { ledger, ranges, log } = deps
  const stop = new AbortController()
  const gate = openSemaphore(runsAtOnce)
  const stores = openStoreUser(log)
  const turns = new Map<RunId, Promise<void>>()
  /** What came of a run whose turn it is: all of it is looked at together, after that. */
  const later = new Map<RunId, ToldRange[]>()
  const logged = async (work: () => Promise<void>) => {
    try {
      await work()
      stores.worked()
    } catch (error) {
      if (!stop.signal.aborted && !stores.failed(error)) log.warn('runs are not watched', { error })
    }
  }
  const watch = async (runId: RunId, told: readonly ToldRange[]) => {
    const leave = await gate.acquire(stop.signal)
    try {
      const isWatched = await watchRun(runId, deps, stop.signal)
      if (isWatched && told.length > 0) await ranges.acknowledge(told.map(({ id }) => id))
    } finally {
      leave()
    }
  }
  const queue = (runId: RunId, told: readonly ToldRange[] = []) => {
    if (turns.has(runId)) return void later.set(runId, [...(later.get(runId) ?? []), ...told])
    const turn = logged(() => watch(runId, told)).finally(() => {
      turns.delete(runId)
      const more = later.get(runId)
      later.delete(runId)
      if (more !== undefined) queue(runId, more)
    })
    turns.set(runId, turn)
    return undefined
  }
  const follow = async () => {
    while (turns.size >= mostWaiting) await Promise.race(turns.values())
    for (const [runId, told] of Map.groupBy(await ranges.take(mostWaiting), (range) => range.runId)) queue(runId, told)
  }
  const look = async () => {
    for (const { runId } of await ledger.activeRuns()) if (!turns.has(runId)) queue(runId)
  }
  const loops = [repeatEvery(gatherMs, () => logged(follow)), repeatEvery(lookMs, () => logged(look))]
  return async () => {
    stop.abort()
    await Promise.all(loops.map((end) => end()))
    while (turns.size > 0) await Promise.all(turns.values())
  }
}
