import { AppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import { repeatEvery } from '#platform/clock.ts'
import { type Log, openStoreUser, type StoreLog } from '#platform/log.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Notices } from '#store/ledger/notices.ts'
import type { Retention } from '#store/ledger/retention.ts'

export type TellerDeps = {
  ledger: Pick<Ledger, 'activeRuns' | 'tellEvents' | 'trimTold'>
  retention: Pick<Retention, 'endedRuns'>
  notices: Pick<Notices, 'on'>
  /** Says which ranges are kept. */
  told: Parameters<Ledger['trimTold']>[0]
  log: StoreLog & Pick<Log, 'warn'>
}

/** Notices of a run that come within so long make one range. */
const gatherMs = 50
/** The active runs are looked at so often, whether there were notices or not. */
const sweepMs = 1_000
const trimMs = 10_000
const endedAtOnce = 100

/**
 * Tells those who follow all runs of new events, once however many processes do. What was missed before it hears notices is made up for:
 * all runs that are kept are looked at once, some in each round. They are not listed in pages: positions shift when a run is forgotten
 * meanwhile, and no run may be missed. The returned function ends it.
 */
export function runTeller(deps: TellerDeps): () => Promise<void> {
  const { ledger, retention, notices, told, log } = deps
  const stores = openStoreUser(log)
  const runs = new Set<RunId>()
  let [sweptAt, trimmedAt] = [-Infinity, -Infinity]
  /** How often notices may have been missed, and how often the ended runs were listed for that. */
  let [missed, listed] = [1, 0]
  let ended: Awaited<ReturnType<typeof retention.endedRuns>> = []
  const stopHearing = notices.on('all', (notice) => {
    if (notice === undefined) missed += 1
    else runs.add(notice.runId)
  })
  const gather = async () => {
    const now = performance.now()
    if (listed < missed) {
      const times = missed
      ended = await retention.endedRuns({ agedMs: 0, first: 0, limit: -1 })
      listed = times
    }
    for (const { runId } of ended.splice(0, endedAtOnce)) runs.add(runId)
    if (now - sweptAt < sweepMs) return
    for (const { runId } of await ledger.activeRuns()) runs.add(runId)
    sweptAt = now
    if (now - trimmedAt < trimMs) return
    await ledger.trimTold(told)
    trimmedAt = now
  }
  const tell = async (runId: RunId) => {
    runs.delete(runId)
    await ledger.tellEvents(runId).catch((error: unknown) => {
      if (error instanceof AppError && error.retry) runs.add(runId)
      throw error
    })
  }
  const stop = repeatEvery(gatherMs, async () => {
    try {
      await gather()
      await Promise.all([...runs].map(tell))
      stores.worked()
    } catch (error) {
      if (!stores.failed(error)) log.warn('events of runs are not told to those who follow all', { error })
    }
  })
  return async () => {
    stopHearing()
    await stop()
  }
}
