import type { RedisClient } from '#platform/redis-client.ts'
import { redisNowMs } from './store.ts'

const slotLifeMs = 15_000
export const announceEveryMs = 5_000

export type WorkerSlots = { id: string; slots: number }

/** The index of live workers: members `<worker>/<slots>`, scores when they expire, by Redis' clock. */
const slotsKey = (namespace: string) => `${namespace}:{all}:slots`
const memberOf = (worker: WorkerSlots) => `${worker.id}/${worker.slots}`

/** Announces for the next 15 seconds that `worker` can run `slots` operations at once. */
export async function announceSlots(redis: RedisClient, worker: WorkerSlots, namespace = 'remora'): Promise<void> {
  await redis.zadd(slotsKey(namespace), (await redisNowMs(redis)) + slotLifeMs, memberOf(worker))
}

export async function withdrawSlots(redis: RedisClient, worker: WorkerSlots, namespace = 'remora'): Promise<void> {
  await redis.zrem(slotsKey(namespace), memberOf(worker))
}

export async function liveSlots(redis: RedisClient, namespace = 'remora'): Promise<number> {
  await redis.zremrangebyscore(slotsKey(namespace), 0, await redisNowMs(redis))
  const members = await redis.zrange(slotsKey(namespace), '0', '-1')
  return members.reduce((sum, member) => sum + Number(member.slice(member.lastIndexOf('/') + 1)), 0)
}
