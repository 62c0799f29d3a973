import type { Redis } from 'ioredis'

/** A worker that has not said so for this long counts as gone. */
const slotLifeMs = 15_000
export const announceEveryMs = 5_000

/** The index of live workers: members `<worker>/<slots>`, scores when they expire. */
const slotsKey = (namespace: string) => `${namespace}:{all}:slots`

/** Says that `worker` can run `slots` operations at once, for the next 15 seconds. */
export async function announceSlots(
  redis: Redis,
  worker: { id: string; slots: number },
  namespace = 'remora',
): Promise<void> {
  await redis.zadd(slotsKey(namespace), Date.now() + slotLifeMs, `${worker.id}/${worker.slots}`)
}

/** A worker that drains takes no more work. */
export async function withdrawSlots(
  redis: Redis,
  worker: { id: string; slots: number },
  namespace = 'remora',
): Promise<void> {
  await redis.zrem(slotsKey(namespace), `${worker.id}/${worker.slots}`)
}

/** Slots of all workers that announced themselves lately, together. */
export async function liveSlots(redis: Redis, namespace = 'remora'): Promise<number> {
  await redis.zremrangebyscore(slotsKey(namespace), 0, Date.now())
  const members = await redis.zrange(slotsKey(namespace), '0', '-1')
  return members.reduce((sum, member) => sum + Number(member.slice(member.lastIndexOf('/') + 1)), 0)
}
