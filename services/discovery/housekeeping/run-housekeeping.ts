import type { Retention } from '#store/ledger/retention.ts'
import { repeatEvery } from '#platform/clock.ts'
import { type Log, openStoreUser, type StoreLog } from '#platform/log.ts'
import { archiveEndedEvents, type ArchiveEndedDeps } from './archive-events.ts'
import { collectObjects, type CollectDeps } from './collect-objects.ts'
import { forgetEndedRuns, type ForgetDeps } from './forget-ended-runs.ts'

export type HousekeepingDeps = ForgetDeps &
  ArchiveEndedDeps &
  CollectDeps & {
    retention: Pick<Retention, 'inTurn'>
    log: StoreLog & Pick<Log, 'info' | 'warn'>
  }

/** A collection reads every folder that a retained run refers to and lists the whole bucket: once an hour will do. */
const collectRestMs = 3_600_000

/** The returned function stops the rounds, also in the middle of a collection. */
export function runHousekeeping(deps: HousekeepingDeps, everyMs: number): () => Promise<void> {
  const stop = new AbortController()
  const stores = openStoreUser(deps.log)
  const stopRounds = repeatEvery(everyMs, () => housekeepingRound(deps, stop.signal, stores))
  return async () => {
    stop.abort()
    await stopRounds()
  }
}

/**
 * One round: forgets runs past retention, archives the events of the other ended runs, then, unless another process is
 * collecting or did so within the last hour, collects unreferenced objects. Forgetting and archiving take no lease: two
 * at once are harmless, and they make room in a Redis that is too full for a lease. Never throws: logs errors.
 */
export async function housekeepingRound(
  deps: HousekeepingDeps,
  signal: AbortSignal,
  stores = openStoreUser(deps.log),
): Promise<void> {
  try {
    const forgotten = await forgetEndedRuns(deps, signal)
    const archived = await archiveEndedEvents(deps, signal)
    const counts = { runs_forgotten: forgotten, segments_archived: archived }
    const collected = await deps.retention.inTurn(collectRestMs, (lost) =>
      collectObjects(deps, AbortSignal.any([signal, lost])),
    )
    if (collected !== undefined) {
      const { deleted, deletedBytes, kept, young, unknown } = collected
      const objects = { deleted, deleted_bytes: deletedBytes, kept, young, unknown }
      deps.log.info('housekeeping', { ...counts, objects })
    } else if (forgotten > 0 || archived > 0) {
      deps.log.info('housekeeping', counts)
    }
    stores.worked()
  } catch (error) {
    if (!signal.aborted && !stores.failed(error)) deps.log.warn('housekeeping was cut short', { error })
  }
}
