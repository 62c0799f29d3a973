import { newToken } from '#domain/ids.ts'
import { delay } from '#platform/clock.ts'
import type { RedisClient } from '#platform/connect-redis.ts'
import { collectionKeys } from './keys.ts'
import { endLease, holdLease } from './lease.ts'
import { orStoreError } from './store-error.ts'

/** So long a window keeps writers out when its collector dies in it. */
const windowMs = 60_000
/** How long the deletes of a window may take: what is still on its way then arrives before the window ends. */
const workMs = 30_000

/**
 * Runs `work` while no process of this ledger puts an object that runs share. Why that is needed: a put makes an old
 * object young again, but one that comes between a collector's look at its age and its delete would be lost, and the run
 * that refers to it with it. So permits to put (put-permit.ts) and windows exclude each other: a window first keeps new
 * permits out, then waits for those given to run out. `signal` is aborted when the window's time is up. Undefined,
 * without running `work`, when another collector has one.
 */
export async function withCollectionWindow<T>(
  redis: RedisClient,
  namespace: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const { window, permits } = collectionKeys(namespace)
  const lease = { key: window, token: newToken(), ms: windowMs }
  if ((await orStoreError(redis.set(window, lease.token, 'PX', windowMs, 'NX'))) === null) return undefined
  try {
    for (;;) {
      const left = await orStoreError(redis.pttl(permits))
      if (left <= 0) break
      await delay(Math.min(left, windowMs / 4))
      if (!(await holdLease(redis, lease))) return undefined
    }
    const timeUp = AbortSignal.timeout(workMs)
    return (await holdLease(redis, lease)) ? await work(timeUp) : undefined
  } finally {
    await endLease(redis, lease)
  }
}
