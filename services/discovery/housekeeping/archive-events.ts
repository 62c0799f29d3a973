import { AppError, hasCode } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Retention } from '#store/ledger/retention.ts'
import { type Log, openStoreUser, type StoreLog } from '#platform/log.ts'
import { repeatEvery } from '#platform/clock.ts'

export type ArchiveEndedDeps = {
  ledger: Pick<Ledger, 'archiveEvents'>
  retention: Pick<Retention, 'endedRuns'>
  log: Pick<Log, 'warn'>
  /** An ended run's events stay in Redis so long, for clients that still follow it. */
  followedMs?: number
  maxSegments?: number
}

const defaultFollowedMs = 300_000
/** These are half a million events, some ten seconds of work. */
const defaultMaxSegments = 500
const pageLength = 100

/**
 * Moves the whole segments of runs that ended some minutes ago, and what their attempts said, to the archive, and returns in how many
 * steps. The next call continues behind the limit; a run whose events cannot be moved does not delay the others. Throws when a store
 * is unreachable.
 */
export async function archiveEndedEvents(deps: ArchiveEndedDeps, signal: AbortSignal): Promise<number> {
  const { retention, followedMs = defaultFollowedMs, maxSegments = defaultMaxSegments } = deps
  let moved = 0
  for (let first = 0; ; first += pageLength) {
    const runs = await retention.endedRuns({ agedMs: followedMs, first, limit: pageLength })
    for (const { runId } of runs) {
      for (let segments = 1; segments > 0; moved += segments) {
        signal.throwIfAborted()
        if (moved >= maxSegments) return moved
        segments = await archiveSome(runId, deps)
      }
    }
    if (runs.length < pageLength) return moved
  }
}

async function archiveSome(runId: RunId, { ledger, log }: ArchiveEndedDeps): Promise<number> {
  try {
    return await ledger.archiveEvents(runId, { keep: 0 })
  } catch (error) {
    if (error instanceof AppError && error.retry) throw error
    // A run of a newer version is left alone, as everywhere.
    if (!hasCode(error, 'RUN_005')) log.warn('events are not archived', { run_id: runId, error })
    return 0
  }
}

type ArchiverDeps = { ledger: Pick<Ledger, 'activeRuns' | 'archiveEvents'>; log: StoreLog & Pick<Log, 'warn'> }

const everyMs = 1_000

/** Keeps the active runs' events within their limit in Redis: a loop of its own, since the dispatcher cannot wait for objects. */
export function runArchiver({ ledger, log }: ArchiverDeps): () => Promise<void> {
  const stores = openStoreUser(log)
  return repeatEvery(everyMs, async () => {
    const runs = await ledger.activeRuns().catch(() => [])
    for (const { runId } of runs) {
      await ledger.archiveEvents(runId).then(stores.worked, (error: unknown) => {
        if (!stores.failed(error)) log.warn('events are not archived', { run_id: runId, error })
      })
    }
  })
}
