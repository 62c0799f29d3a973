import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { ModelHealth } from '#domain/model-health.ts'
import { ProgramReport } from '#domain/program-report.ts'
import { partStates } from '#platform/readiness.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { redisNowMs } from './store.ts'

// What the workers that live tell the dispatcher and each other: how many operations they take, what they know of their
// models, and which models all of them are to judge.

const announcedForMs = 15_000
/** A report that is only late may be renewed just when it is removed. */
const forgottenAfterMs = 60_000
export const announceEveryMs = 5_000

export type LiveWorker = {
  id: string
  /** How many operations it can run at once; 0 while it takes none. */
  operations: number
  /** The models it was asked for, as it sees them. */
  models: readonly ModelHealth[]
  pool?: PoolReport | undefined
  /** Its object store while that cannot be used. */
  store?: StoreReport | undefined
  programs?: ProgramReport | undefined
  version?: string | undefined
  /** Milliseconds since the epoch. */
  startedAt?: number | undefined
}

/** How much of the model servers a worker can use. */
export const PoolReport = z.object({
  /** Requests that wait for a slot. */
  waiting: z.number(),
  /** `most`: requests at once of all workers together; `limit`: those of this one, for now. */
  servers: z.array(z.object({ url: z.string(), most: z.number(), limit: z.number() })),
  /** The part of its own limits that overload and outages have left, 0 to 1. */
  left: z.number(),
})
export type PoolReport = z.infer<typeof PoolReport>

/** What a worker says of an object store that it cannot use. */
const StoreReport = z.object({ state: z.enum(partStates), message: z.string() })
type StoreReport = z.infer<typeof StoreReport>

/** Members `<worker>/<operations>`, scores when they expire, by Redis' clock: the index that workers of earlier versions write too. */
const takersKey = (namespace: string) => `${namespace}:{all}:slots`
/** Field `<worker>`: its report. */
const reportsKey = (namespace: string) => `${namespace}:{all}:workers`
/** Members: models that every worker is to judge; scores when that expires. */
const wantedKey = (namespace: string) => `${namespace}:{all}:wanted-models`
const operationsOf = (member: string) => Number(member.slice(member.lastIndexOf('/') + 1))
const workerOf = (member: string) => member.slice(0, member.lastIndexOf('/'))

const WorkerReport = z.object({
  until: z.number(),
  models: z.array(ModelHealth),
  pool: PoolReport.optional(),
  store: StoreReport.optional(),
  programs: ProgramReport.optional(),
  version: z.string().optional(),
  startedAt: z.number().optional(),
})
export type WorkerReport = z.infer<typeof WorkerReport>

/** Announces the worker for the next 15 seconds. */
export async function announceWorker(
  redis: RedisClient,
  { id, operations, ...report }: LiveWorker,
  namespace = 'remora',
): Promise<void> {
  const until = (await redisNowMs(redis)) + announcedForMs
  const others = (await redis.zrange(takersKey(namespace), '0', '-1')).filter((member) => workerOf(member) === id)
  const stale = others.filter((member) => operationsOf(member) !== operations)
  await redis.hset(reportsKey(namespace), id, JSON.stringify({ until, ...report }))
  if (operations > 0) await redis.zadd(takersKey(namespace), until, `${id}/${operations}`)
  if (stale.length > 0) await redis.zrem(takersKey(namespace), ...stale)
}

export async function withdrawWorker(redis: RedisClient, id: string, namespace = 'remora'): Promise<void> {
  const members = await redis.zrange(takersKey(namespace), '0', '-1')
  const own = members.filter((member) => workerOf(member) === id)
  if (own.length > 0) await redis.zrem(takersKey(namespace), ...own)
  // Last: a worker that takes operations and reports nothing counts as one of an earlier version.
  await redis.hdel(reportsKey(namespace), id)
}

/** The workers that are announced: what each reports, and those that take operations with how many. */
export type LiveWorkers = {
  reports: ReadonlyMap<string, WorkerReport>
  /** Also those of an earlier version, which report nothing. */
  takers: readonly { id: string; operations: number }[]
}

/** Forgets workers that are silent. */
export async function readWorkers(redis: RedisClient, namespace = 'remora'): Promise<LiveWorkers> {
  const now = await redisNowMs(redis)
  const [, found, members] = await Promise.all([
    redis.zremrangebyscore(takersKey(namespace), 0, now),
    redis.hgetall(reportsKey(namespace)),
    redis.zrange(takersKey(namespace), '0', '-1'),
  ])
  const reports = new Map<string, WorkerReport>()
  const silent: string[] = []
  for (const [id, text] of Object.entries(found)) {
    const report = WorkerReport.safeParse(parseJson(text))
    if (!report.success || report.data.until < now - forgottenAfterMs) silent.push(id)
    else if (report.data.until >= now) reports.set(id, report.data)
  }
  if (silent.length > 0) await redis.hdel(reportsKey(namespace), ...silent)
  return { reports, takers: members.map((member) => ({ id: workerOf(member), operations: operationsOf(member) })) }
}

/** For the next 15 seconds every worker judges these models, also one that was never asked for them. */
export async function wantModels(redis: RedisClient, models: readonly string[], namespace = 'remora'): Promise<void> {
  if (models.length === 0) return
  const until = (await redisNowMs(redis)) + announcedForMs
  await redis.zadd(wantedKey(namespace), ...models.flatMap((model) => [until, model]))
}

export async function wantedModels(redis: RedisClient, namespace = 'remora'): Promise<string[]> {
  await redis.zremrangebyscore(wantedKey(namespace), 0, await redisNowMs(redis))
  return redis.zrange(wantedKey(namespace), '0', '-1')
}
