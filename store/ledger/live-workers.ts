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

export const PoolReport = z.object({
  /** Requests that wait for a slot. */
  waiting: z.number(),
  /** `most`: requests at once of all workers together; `limit`: those of this one, for now; `inFlight`: those that it has there. */
  servers: z.array(
    z.object({ url: z.string(), most: z.number(), limit: z.number(), inFlight: z.number(), breaker: z.string() }),
  ),
})
export type PoolReport = z.infer<typeof PoolReport>

const StoreReport = z.object({ state: z.enum(partStates), message: z.string() })

const reportsKey = (namespace: string) => `${namespace}:{all}:workers`
/** Members: models that every worker is to judge; scores when that expires. */
const wantedKey = (namespace: string) => `${namespace}:{all}:wanted-models`

const WorkerReport = z.object({
  until: z.number(),
  /** Counts the operations that it can run at once; 0 while it takes none. */
  operations: z.number(),
  /** The models it was asked for, as it sees them. */
  models: z.array(ModelHealth),
  pool: PoolReport.optional(),
  store: StoreReport.optional(),
  programs: ProgramReport.optional(),
  version: z.string(),
  /** Is in milliseconds since the epoch. */
  startedAt: z.number(),
})
export type WorkerReport = z.infer<typeof WorkerReport>

type LiveWorker = Omit<WorkerReport, 'until'> & { id: string }

/** Announces the worker for the next 15 seconds. */
export async function announceWorker(redis: RedisClient, { id, ...report }: LiveWorker, namespace = 'remora') {
  const until = (await redisNowMs(redis)) + announcedForMs
  await redis.hset(reportsKey(namespace), id, JSON.stringify({ until, ...report }))
}

export async function withdrawWorker(redis: RedisClient, id: string, namespace = 'remora'): Promise<void> {
  await redis.hdel(reportsKey(namespace), id)
}

/** Reads what each worker that is announced reports, by its id, and forgets workers that are silent. */
export async function readWorkers(redis: RedisClient, namespace = 'remora') {
  const now = await redisNowMs(redis)
  const texts = await redis.hgetall(reportsKey(namespace))
  const reports = new Map<string, WorkerReport>()
  const silent: string[] = []
  for (const [id, text] of Object.entries(texts)) {
    const report = WorkerReport.safeParse(parseJson(text))
    if (!report.success || report.data.until < now - forgottenAfterMs) silent.push(id)
    else if (report.data.until >= now) reports.set(id, report.data)
  }
  if (silent.length > 0) await redis.hdel(reportsKey(namespace), ...silent)
  return reports
}

/** Has every worker judge these models for the next 15 seconds, also one that was never asked for them. */
export async function wantModels(redis: RedisClient, models: readonly string[], namespace = 'remora'): Promise<void> {
  if (models.length === 0) return
  const until = (await redisNowMs(redis)) + announcedForMs
  await redis.zadd(wantedKey(namespace), ...models.flatMap((model) => [until, model]))
}

export async function wantedModels(redis: RedisClient, namespace = 'remora'): Promise<string[]> {
  await redis.zremrangebyscore(wantedKey(namespace), 0, await redisNowMs(redis))
  return redis.zrange(wantedKey(namespace), '0', '-1')
}
