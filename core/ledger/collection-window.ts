import { AppError } from '#domain/error.ts'
import { newToken } from '#domain/ids.ts'
import { delay } from '#platform/clock.ts'
import type { RedisClient } from '#platform/connect-redis.ts'
import { collectionKeys } from './keys.ts'
import { endLease, holdLease } from './lease.ts'
import { orStoreError } from './store-error.ts'

export type CollectionWindow = {
  /** Aborted when the time for deletes is up, or a little later: in a process that was stopped, timers go off late. */
  timeUp: AbortSignal
  /**
   * To be asked right before each delete: true while this window keeps writers out, and so much of it is left that what
   * is sent now arrives in it. Goes by the clock and by what Redis holds, not by timers. STORE_001 without Redis.
   */
  isOpen(): Promise<boolean>
}

/**
 * `windowMs`: so long a window keeps writers out when its collector dies in it. `workMs`: how long its deletes may take:
 * what is still on its way then arrives before the window ends.
 */
const defaultTimes = { windowMs: 60_000, workMs: 30_000 }
/** A little longer than a permit for puts that take no longer than usual. */
const longestWaitMs = 5_000

/**
 * Runs `work` while no process of this ledger puts an object that runs share. Why that is needed: a put makes an old
 * object young again, but one that comes between a collector's look at its age and its delete would be lost, and the run
 * that refers to it with it. So permits to put (put-permit.ts) and windows exclude each other: a window first keeps new
 * permits out, then waits for those given to run out. Undefined, without running `work`, when another collector has
 * one. STORE_002 when a permit lasts so long, for a store that is slow, that everyone else would wait with the window.
 */
export async function withCollectionWindow<T>(
  redis: RedisClient,
  namespace: string,
  work: (window: CollectionWindow) => Promise<T>,
  { windowMs, workMs } = defaultTimes,
): Promise<T | undefined> {
  const { window, permits } = collectionKeys(namespace)
  const lease = { key: window, token: newToken(), ms: windowMs }
  if ((await orStoreError(redis.set(window, lease.token, 'PX', windowMs, 'NX'))) === null) return undefined
  try {
    for (;;) {
      const left = await orStoreError(redis.pttl(permits))
      if (left <= 0) break
      if (left > longestWaitMs) throw tooSlow(left)
      await delay(left)
    }
    const until = performance.now() + workMs
    if (!(await holdLease(redis, lease))) return undefined
    const isOpen = async () => (await orStoreError(redis.get(window))) === lease.token && performance.now() < until
    return await work({ timeUp: AbortSignal.timeout(workMs), isOpen })
  } finally {
    await endLease(redis, lease)
  }
}

function tooSlow(leftMs: number): AppError {
  const seconds = Math.ceil(leftMs / 1000)
  return new AppError('STORE_002', `a put is so slow that there can be no window for deletes for ${seconds} s`)
}
