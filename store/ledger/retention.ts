import { z } from 'zod'
import { newToken, OperationId, ProjectId, RunId } from '#domain/ids.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { Outcome } from '#domain/operation.ts'
import { type CollectionWindow, withCollectionWindow } from './collection-window.ts'
import { endDeletion, makeUnknown, removeResults, requestDeletion, runsBeingDeleted } from './delete-run.ts'
import { collectionKeys, indexKeys, resultKeys, runKeys, runOfMember, toldKeys } from './keys.ts'
import { withLease } from './lease.ts'
import { bindAll, type LedgerStore, orStoreError, redisNowMs } from './store.ts'
import { keepAccepted } from './usage.ts'

export type Retention = ReturnType<typeof openRetention>

const leaseMs = 60_000

/** Works over a connection that stays the caller's to close. Redis out of reach is STORE_001. */
export function openRetention(redis: RedisClient, namespace = 'remora') {
  const store = { redis, namespace }
  const keys = collectionKeys(namespace)
  return {
    ...bindAll(store, {
      endedRuns,
      forgetRun,
      retainedRuns,
      knownProjects,
      ledgerId,
      readReferences,
      requestDeletion,
      runsBeingDeleted,
      removeResults,
      endDeletion,
    }),
    inWindow: <T>(work: (window: CollectionWindow) => Promise<T>) => withCollectionWindow(redis, namespace, work),
    /** Runs `work` unless another process deletes runs. A lost lease aborts the signal. */
    whileDeleting: <T>(work: (signal: AbortSignal) => Promise<T>) =>
      withLease(redis, { key: keys.deleting, ms: leaseMs }, work),
    /** Runs `work` unless another process does, or did less than `restMs` ago (0: whenever). A lost lease aborts the signal. */
    inTurn: <T>(restMs: number, work: (signal: AbortSignal) => Promise<T>) =>
      withLease(redis, { key: keys.lease, ms: leaseMs }, async (signal) => {
        if (restMs > 0 && (await orStoreError(redis.exists(keys.rest))) === 1) return undefined
        const result = await work(signal)
        if (restMs > 0) await orStoreError(redis.set(keys.rest, '1', 'PX', restMs))
        return result
      }),
  }
}

type RetentionStore = Pick<LedgerStore, 'redis' | 'namespace'>

type EndedRun = { projectId: ProjectId; runId: RunId }

/** Returns those that ended so long ago, the longest first, `limit` from position `first` on, or with -1 all. */
async function endedRuns(store: RetentionStore, page: { agedMs: number; first: number; limit: number }) {
  const last = (await redisNowMs(store.redis)) - page.agedMs
  const { ended } = indexKeys(store.namespace)
  const members = await store.redis.zrangebyscore(ended, '-inf', last, 'LIMIT', page.first, page.limit)
  return members.map(runOfMember)
}

async function retainedRuns(store: RetentionStore, projectId: ProjectId): Promise<RunId[]> {
  // Not in pages: positions shift when a run is forgotten meanwhile, and no run may be missed.
  return z.array(RunId).parse(await store.redis.zrange(indexKeys(store.namespace).runsOf(projectId), '0', '-1'))
}

async function knownProjects(store: RetentionStore): Promise<ProjectId[]> {
  return z.array(ProjectId).parse(await store.redis.smembers(indexKeys(store.namespace).projects))
}

/** A random name of the data in this Redis: a ledger that was lost and started again has another. */
async function ledgerId(store: RetentionStore): Promise<string> {
  const key = collectionKeys(store.namespace).ledgerId
  await store.redis.set(key, newToken(), 'NX')
  return z.string().parse(await store.redis.get(key))
}

const Row = z.tuple([z.string(), z.string().nullable(), z.string().nullable()])
const referring = ['hash', 'outcome', 'suspension'] as const

/** Returns what `limit` operations from position `first` refer to. `next` is null at the end. */
async function readReferences(store: RetentionStore, runId: RunId, page: { first: number; limit: number }) {
  const keys = runKeys(store.namespace, runId)
  const range = [String(page.first), String(page.first + page.limit - 1)] as const
  const ids = z.array(OperationId).parse(await store.redis.zrange(keys.operations, ...range))
  const rows = await Promise.all(ids.map((id) => store.redis.hmget(keys.operation(id), ...referring)))
  const bundleHashes = new Set<string>()
  const recordHashes: string[] = []
  for (const row of rows) {
    const [bundleHash, outcome, suspensionHash] = Row.parse(row)
    bundleHashes.add(bundleHash)
    const recordHash = outcome === null ? undefined : Outcome.parse(JSON.parse(outcome)).recordHash
    for (const hash of [recordHash ?? null, suspensionHash]) if (hash !== null) recordHashes.push(hash)
  }
  return {
    bundleHashes: [...bundleHashes],
    recordHashes,
    next: ids.length < page.limit ? null : page.first + ids.length,
  }
}

const sliceOperations = 500

/**
 * Deletes what the ledger holds of an ended run, in slices. From the first step on it is unknown (RUN_001); its hash and index
 * entry go last, so that an interrupted deletion is found. Concurrent calls are harmless, and objects are left to the
 * collection. `open`: it has not ended. RUN_005: of a newer version.
 */
export async function forgetRun(store: RetentionStore, { projectId, runId }: EndedRun, sliceLength = sliceOperations) {
  const { redis, namespace } = store
  const keys = runKeys(namespace, runId)
  const index = indexKeys(namespace)
  const answer = await makeUnknown(store, runId)
  if (answer !== 'open') {
    await forgetOperations(store, runId, sliceLength)
    await keepAccepted(store, { projectId, runId })
    const over = (await redis.smembers(keys.past)).map(keys.talk)
    await redis.unlink(...over, ...keys.all.filter((key) => key !== keys.run))
    await redis.hdel(resultKeys(namespace).counted, runId)
    await redis.hdel(toldKeys(namespace).told, runId)
    await redis.zrem(index.runsOf(projectId), runId)
    await redis.unlink(keys.run)
  }
  await redis.zrem(index.ended, `${projectId}/${runId}`)
  return answer === 'open' ? 'open' : 'forgotten'
}

/** Forgets operations by their ids, not by their positions: another process may delete the same slice. */
async function forgetOperations({ redis, namespace }: RetentionStore, runId: RunId, sliceLength: number) {
  const keys = runKeys(namespace, runId)
  for (;;) {
    const ids = await redis.zrange(keys.operations, '0', String(sliceLength - 1))
    if (ids.length === 0) return
    await redis.unlink(...ids.flatMap((id) => [keys.operation(id), keys.node(id), keys.after(id), keys.talk(id)]))
    await redis.zrem(keys.operations, ...ids)
  }
}
