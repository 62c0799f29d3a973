import type { ProjectId, RunId } from '#domain/ids.ts'
import type { RedisClient } from '#platform/connect-redis.ts'
import { withCollectionWindow, type CollectionWindow } from './collection-window.ts'
import { forgetRun, type ForgetAnswer } from './forget-run.ts'
import { collectionKeys } from './keys.ts'
import { withLease } from './lease.ts'
import {
  endedRuns,
  knownProjects,
  ledgerId,
  readReferences,
  retainedRuns,
  type EndedRun,
  type ReferencePage,
} from './retained-runs.ts'
import { orStoreError } from './store-error.ts'

/** What the housekeeping does with the ledger: which runs are kept, what they refer to, and the end of the others. */
export type Retention = {
  endedRuns(page: { agedMs: number; first: number; limit: number }): Promise<EndedRun[]>
  forgetRun(run: EndedRun): Promise<ForgetAnswer>
  retainedRuns(projectId: ProjectId): Promise<RunId[]>
  knownProjects(): Promise<ProjectId[]>
  ledgerId(): Promise<string>
  readReferences(runId: RunId, page: { first: number; limit: number }): Promise<ReferencePage>
  /** As `withCollectionWindow`: while `work` runs, nothing that runs share is put. */
  inWindow<T>(work: (window: CollectionWindow) => Promise<T>): Promise<T | undefined>
  /**
   * Runs `work` unless another process is at it, or it ended well less than `restMs` ago. The signal ends it when the
   * lease is lost.
   */
  inTurn<T>(restMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined>
}

const leaseMs = 60_000

/** Over a connection that stays the caller's to close. Redis out of reach is STORE_001. */
export function openRetention(redis: RedisClient, namespace = 'remora'): Retention {
  const store = { redis, namespace }
  const keys = collectionKeys(namespace)
  return {
    endedRuns: (page) => orStoreError(endedRuns(store, page)),
    forgetRun: (run) => orStoreError(forgetRun(store, run)),
    retainedRuns: (projectId) => orStoreError(retainedRuns(store, projectId)),
    knownProjects: () => orStoreError(knownProjects(store)),
    ledgerId: () => orStoreError(ledgerId(store)),
    readReferences: (runId, page) => orStoreError(readReferences(store, runId, page)),
    inWindow: (work) => withCollectionWindow(redis, namespace, work),
    inTurn: (restMs, work) =>
      withLease(redis, { key: keys.lease, ms: leaseMs }, async (signal) => {
        if ((await orStoreError(redis.exists(keys.rest))) === 1) return undefined
        const result = await work(signal)
        if (restMs > 0) await orStoreError(redis.set(keys.rest, '1', 'PX', restMs))
        return result
      }),
  }
}
