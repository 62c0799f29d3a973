import type { Ledger } from '#ledger/ledger.ts'
import type { RedisClient } from '#platform/connect-redis.ts'
import { clearQueues } from '#queues/clear-queues.ts'
import { AppError } from '#domain/error.ts'

/**
 * What the first process of a stack does that has its stores for itself: no worker of an earlier one is alive, so nothing
 * has to wait for leases and locks to run out.
 */
export async function takeOver(redis: RedisClient, ledger: Pick<Ledger, 'activeRuns' | 'sweep'>): Promise<void> {
  await clearQueues(redis)
  for (const { runId } of await ledger.activeRuns()) {
    try {
      while ((await ledger.sweep(runId, 'abandoned')) > 0);
    } catch (error) {
      // A run of a newer version, or one that was not accepted to the end: the dispatcher says so.
      if (!(error instanceof AppError && (error.code === 'RUN_001' || error.code === 'RUN_005'))) throw error
    }
  }
}
