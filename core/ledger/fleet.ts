import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { judgeModels, ModelHealth, type UnreachableModel } from '#domain/model-health.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { redisNowMs } from './store.ts'

const announcedForMs = 15_000
/** A report that is only late may be renewed just when it is removed. */
const forgottenAfterMs = 60_000
/**
 * How many operations are open for each request to the model: while some are prepared or proved, others keep the model busy.
 * Compared with a bare loop, the model was busy 0.78 of the time with one, and 0.96 with three (bench/utilisation-bench.ts,
 * 256 slots).
 */
export const operationsPerSlot = 3
/**
 * How many more operations a worker opens than its slots need, for runs that begin: they need not wait until an operation
 * of another run ends. As many as it has slots, but also a worker with one slot has room for eight such runs.
 */
export const roomForNewRuns = (slots: number) => Math.max(slots, 8)
/** What the dispatcher fills of all that the workers open, where that room is one more operation for each slot. */
export const filledShare = operationsPerSlot / (operationsPerSlot + 1)
/** What is enqueued before any worker has announced itself, and while no model works: some operations need none. */
export const leastWindow = 8
export const announceEveryMs = 5_000

export type LiveWorker = {
  id: string
  /** How many operations it can run at once; 0 while it takes none. */
  operations: number
  /** The models it was asked for, as it sees them. */
  models: readonly ModelHealth[]
  pool?: PoolReport | undefined
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

/** All live workers together. */
export type Fleet = {
  /** How many operations they can run at once. */
  operations: number
  /** Requests to model servers at once, by their limits for now; undefined while a worker lives that does not report it. */
  capacity: number | undefined
  /** Requests that wait for a slot at a server. */
  waiting: number
  /** The largest part of its limits that any worker has left, 0 to 1; 0 when none reports it. */
  mostLeft: number
  /** Models that none of them can use. */
  away: readonly UnreachableModel[]
  /** Models that at least one of them can use. */
  working: ReadonlySet<string>
  /** Those of them that work at one that takes operations. */
  served: ReadonlySet<string>
  /** Whether a worker lives that does not report its models: one of an earlier version. */
  isPartial: boolean
}

/** Members `<worker>/<operations>`, scores when they expire, by Redis' clock: the index that workers of earlier versions write too. */
const takersKey = (namespace: string) => `${namespace}:{all}:slots`
/** Field `<worker>`: its report. */
const reportsKey = (namespace: string) => `${namespace}:{all}:workers`
/** Members: models that some run waits for; scores when that expires. */
const wantedKey = (namespace: string) => `${namespace}:{all}:wanted-models`
const operationsOf = (member: string) => Number(member.slice(member.lastIndexOf('/') + 1))
const workerOf = (member: string) => member.slice(0, member.lastIndexOf('/'))

const Report = z.object({ until: z.number(), models: z.array(ModelHealth), pool: PoolReport.optional() })
type Report = z.infer<typeof Report>

/** Announces the worker for the next 15 seconds. */
export async function announceWorker(
  redis: RedisClient,
  { id, operations, models, pool }: LiveWorker,
  namespace = 'remora',
): Promise<void> {
  const until = (await redisNowMs(redis)) + announcedForMs
  const others = (await redis.zrange(takersKey(namespace), '0', '-1')).filter((member) => workerOf(member) === id)
  const stale = others.filter((member) => operationsOf(member) !== operations)
  await redis.hset(reportsKey(namespace), id, JSON.stringify({ until, models, pool }))
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

/** `without`: the id of a worker that is left out. Forgets workers that are silent. */
export async function readFleet(
  redis: RedisClient,
  { without, namespace = 'remora' }: { without?: string; namespace?: string } = {},
): Promise<Fleet> {
  const now = await redisNowMs(redis)
  const [, found, members] = await Promise.all([
    redis.zremrangebyscore(takersKey(namespace), 0, now),
    redis.hgetall(reportsKey(namespace)),
    redis.zrange(takersKey(namespace), '0', '-1'),
  ])
  const reports = new Map<string, Report>()
  const silent: string[] = []
  for (const [id, text] of Object.entries(found)) {
    const report = Report.safeParse(parseJson(text))
    if (!report.success || report.data.until < now - forgottenAfterMs) silent.push(id)
    else if (report.data.until >= now && id !== without) reports.set(id, report.data)
  }
  if (silent.length > 0) await redis.hdel(reportsKey(namespace), ...silent)
  const present = members.filter((member) => workerOf(member) !== without)
  const isPartial = present.some((member) => !reports.has(workerOf(member)))
  const operations = present.reduce((sum, member) => sum + operationsOf(member), 0)
  const takers = present.flatMap((member) => reports.get(workerOf(member))?.models ?? [])
  const served = new Set(takers.flatMap(({ model, isWorking }) => (isWorking === true ? model : [])))
  const known = [...reports.values()]
  const away = judgeModels(
    known.map(({ models }) => models),
    { isPartial },
  )
  return { operations, isPartial, served, ...capacityOf(known, { isPartial }), ...away }
}

/** Workers share a server up to its most; together they use no more of it than their own limits allow. */
function capacityOf(reports: readonly Report[], { isPartial }: { isPartial: boolean }) {
  const pools = reports.flatMap(({ pool }) => pool ?? [])
  const waiting = pools.reduce((sum, pool) => sum + pool.waiting, 0)
  const mostLeft = Math.max(0, ...pools.map(({ left }) => left))
  if (isPartial || pools.length < reports.length || pools.length === 0)
    return { capacity: undefined, waiting, mostLeft }
  const byUrl = Map.groupBy(
    pools.flatMap(({ servers }) => servers),
    ({ url }) => url,
  )
  let capacity = 0
  for (const same of byUrl.values()) {
    const limits = same.reduce((sum, { limit }) => sum + limit, 0)
    capacity += Math.min(limits, Math.max(...same.map(({ most }) => most)))
  }
  return { capacity, waiting, mostLeft }
}

const freshMs = 250

/** For a reader that asks more often than workers come and go. */
export function openFleet(redis: RedisClient, namespace = 'remora') {
  let [reading, readAt]: [Promise<Fleet> | undefined, number] = [undefined, 0]
  return {
    /** As it was at most 250 ms ago. */
    read(): Promise<Fleet> {
      if (reading !== undefined && performance.now() - readAt < freshMs) return reading
      readAt = performance.now()
      const now = readFleet(redis, { namespace })
      now.catch(() => (reading = undefined))
      return (reading = now)
    },
    want: (models: readonly string[]) => wantModels(redis, models, namespace),
  }
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
