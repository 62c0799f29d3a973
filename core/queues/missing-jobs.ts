import { z } from 'zod'
import type { RedisClient } from '#platform/connect-redis.ts'

/** One pipeline; more would keep Redis from its other clients. */
const sliceIds = 1_000

const repliesOf = <T extends z.ZodType>(reply: T) => z.array(z.tuple([z.null(), reply]))
const Flags = repliesOf(z.number())
const Members = repliesOf(z.array(z.string()))

/**
 * Those of `ids` that a queue will never deliver, by BullMQ's keys (`toKey` gives their names). A job is a hash, and its
 * id in one list or sorted set; it needs both, and a queue that was deleted in part may have kept either. A hash that
 * BullMQ has made itself while it handled an id without one has no data.
 */
export async function missingJobs(
  redis: RedisClient,
  toKey: (name: string) => string,
  ids: readonly string[],
): Promise<string[]> {
  const stored = new Set<string>()
  for (let first = 0; first < ids.length; first += sliceIds) {
    for (const id of await withData(redis, toKey, ids.slice(first, first + sliceIds))) stored.add(id)
  }
  const listed = stored.size === 0 ? stored : await listedIds(redis, toKey)
  return ids.filter((id) => !stored.has(id) || !listed.has(id))
}

async function withData(
  redis: RedisClient,
  toKey: (name: string) => string,
  ids: readonly string[],
): Promise<string[]> {
  const pipeline = redis.pipeline()
  for (const id of ids) pipeline.hexists(toKey(id), 'data')
  const flags = Flags.parse(await pipeline.exec())
  return ids.filter((_id, index) => flags[index]?.[1] === 1)
}

/** In one step, since a job that goes from one list to another in between would be in none. As long as the queue. */
async function listedIds(redis: RedisClient, toKey: (name: string) => string): Promise<Set<string>> {
  const transaction = redis.multi()
  for (const list of ['wait', 'paused', 'active']) transaction.lrange(toKey(list), 0, -1)
  for (const set of ['delayed', 'prioritized']) transaction.zrange(toKey(set), '0', '-1')
  return new Set(Members.parse(await transaction.exec()).flatMap(([, ids]) => ids))
}
