import type { Ledger } from '#ledger/ledger.ts'
import { repeatEvery } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'

export type ArchiverDeps = {
  ledger: Pick<Ledger, 'activeRuns' | 'archiveEvents'>
  log: Pick<Log, 'warn'>
}

const everyMs = 1_000

/**
 * Keeps the events of the active runs within their limit in Redis: older ones go to the object store. Beside the
 * dispatcher, which has no time to wait for objects. Answers how to stop it; what is under way is finished.
 */
export function runArchiver({ ledger, log }: ArchiverDeps): () => Promise<void> {
  return repeatEvery(everyMs, async () => {
    const runs = await ledger.activeRuns().catch(() => [])
    for (const { runId } of runs) {
      await ledger.archiveEvents(runId).catch((error: unknown) => {
        log.warn('events are not archived', { run_id: runId, error })
      })
    }
  })
}
