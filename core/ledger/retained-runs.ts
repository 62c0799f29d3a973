import { z } from 'zod'
import { newToken, OperationId, ProjectId, RunId } from '#domain/ids.ts'
import { Outcome } from '#domain/operation.ts'
import { collectionKeys, indexKeys, runKeys } from './keys.ts'
import { redisNowMs } from './redis-time.ts'
import type { LedgerStore } from './store.ts'

type RetentionStore = Pick<LedgerStore, 'redis' | 'namespace'>

export type EndedRun = { projectId: ProjectId; runId: RunId }

/**
 * Up to `limit` runs that left the active ones at least `agedMs` ago, by Redis' clock, the longest ended first, from
 * place `first` on.
 */
export async function endedRuns(
  store: RetentionStore,
  page: { agedMs: number; first: number; limit: number },
): Promise<EndedRun[]> {
  const last = (await redisNowMs(store.redis)) - page.agedMs
  const { ended } = indexKeys(store.namespace)
  const members = await store.redis.zrangebyscore(ended, '-inf', last, 'LIMIT', page.first, page.limit)
  return members.map((member) => {
    const [projectId, runId] = member.split('/')
    return { projectId: ProjectId.parse(projectId), runId: RunId.parse(runId) }
  })
}

/** Every run of the project that is not forgotten, ended or not, also one that is just being accepted. */
export async function retainedRuns(store: RetentionStore, projectId: ProjectId): Promise<RunId[]> {
  // All at once: places of a sorted set shift when a run is forgotten meanwhile, and none may be missed.
  return z.array(RunId).parse(await store.redis.zrange(indexKeys(store.namespace).runsOf(projectId), '0', '-1'))
}

/** Every project that ever had a run that ended in this ledger. */
export async function knownProjects(store: RetentionStore): Promise<ProjectId[]> {
  return z.array(ProjectId).parse(await store.redis.smembers(indexKeys(store.namespace).projects))
}

/** A name drawn once for what this Redis holds: a ledger that was lost and began anew has another. */
export async function ledgerId(store: RetentionStore): Promise<string> {
  const key = collectionKeys(store.namespace).ledgerId
  await store.redis.set(key, newToken(), 'NX')
  return z.string().parse(await store.redis.get(key))
}

/** The objects that a run's operations name; records of attempts that ended, and of those that wait for a person. `next` is where the next page starts; null when this was the last. */
export type ReferencePage = { bundleHashes: string[]; recordHashes: string[]; next: number | null }

const Row = z.tuple([z.string(), z.string().nullable(), z.string().nullable()])
const referring = ['hash', 'outcome', 'suspension'] as const

/** The references of `limit` operations from place `first` of the plan on. */
export async function readReferences(
  store: RetentionStore,
  runId: RunId,
  page: { first: number; limit: number },
): Promise<ReferencePage> {
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
