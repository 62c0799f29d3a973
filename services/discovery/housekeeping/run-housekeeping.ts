import { undefinedOn } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Retention } from '#store/ledger/retention.ts'
import { repeatEvery } from '#platform/clock.ts'
import { type Log, openStoreUser, type StoreLog } from '#platform/log.ts'
import { archiveEndedEvents, type ArchiveEndedDeps } from './archive-events.ts'
import { collectObjects, type CollectDeps } from './collect-objects.ts'

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
 * Forgets runs past retention, archives events of other ended runs, then collects unless another process does or did within the
 * hour. The first two take no lease: they are harmless twice, and make room in a Redis too full for one. Never throws: logs
 * errors.
 */
export async function housekeepingRound(deps: HousekeepingDeps, signal: AbortSignal, stores = openStoreUser(deps.log)) {
  try {
    const forgotten = await forgetEndedRuns(deps, signal)
    const archived = await archiveEndedEvents(deps, signal)
    const counts = { runs_forgotten: forgotten, archive_steps: archived }
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

type ForgetDeps = {
  ledger: Pick<Ledger, 'getRun'>
  retention: Pick<Retention, 'endedRuns' | 'forgetRun'>
  retentionMs: number
}

const pageLength = 100

async function forgetEndedRuns(deps: ForgetDeps, signal: AbortSignal): Promise<number> {
  const { retention, retentionMs } = deps
  let forgotten = 0
  let left = 0
  for (;;) {
    const runs = await retention.endedRuns({ agedMs: retentionMs, first: left, limit: pageLength })
    if (runs.length === 0) return forgotten
    for (const run of runs) {
      signal.throwIfAborted()
      const answer = (await hasOpenPull(run.runId, deps))
        ? undefined
        : await retention.forgetRun(run).catch(undefinedOn('RUN_005'))
      if (answer === undefined) left += 1
      else if (answer === 'forgotten') forgotten += 1
    }
  }
}

async function hasOpenPull(runId: RunId, { ledger }: ForgetDeps): Promise<boolean> {
  const run = await ledger.getRun(runId).catch(undefinedOn('RUN_001', 'RUN_005'))
  return run?.publication?.pulls.some(({ state }) => state === 'open') ?? false
}
