import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { newToken } from '#domain/ids.ts'
import { delay } from '#platform/clock.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { collectionKeys } from './keys.ts'
import { endLease, holdLease } from './lease.ts'
import { orStoreError } from './store.ts'
import { plainScript } from './script.ts'

export type CollectionWindow = {
  /** Is aborted when the time for deletes is up, or a little later: timers of a suspended process fire late. */
  timeUp: AbortSignal
  /**
   * Is called right before each delete: true while this window keeps writers out and a request sent now still arrives in it.
   * Uses the clock and what Redis holds, not timers. STORE_001 without Redis.
   */
  isOpen(): Promise<boolean>
  /** Begins an epoch, before the delete of young objects: from now on every process puts again what it had put before. */
  beginEpoch(): Promise<void>
}

/** `windowMs`: writers are kept out so long when the collector dies; `workMs`: deletes may take so long, the last requests the rest. */
const defaultTimes = { windowMs: 60_000, workMs: 30_000 }
/** A little longer than a permit for puts of the usual duration. */
const longestWaitMs = 5_000

/**
 * Runs `work` while no process of this ledger puts an object that runs share: a put between a collector's look at the age and
 * its delete would be lost. A window prevents new permits, then waits until the given ones have expired. Undefined when another
 * collector has a window; STORE_002 when a permit lasts too long.
 */
export async function withCollectionWindow<T>(
  redis: RedisClient,
  namespace: string,
  work: (window: CollectionWindow) => Promise<T>,
  { windowMs, workMs } = defaultTimes,
): Promise<T | undefined> {
  const { window, permits, epoch } = collectionKeys(namespace)
  const lease = { key: window, token: newToken(), ms: windowMs }
  if ((await orStoreError(redis.set(window, lease.token, 'PX', windowMs, 'NX'))) === null) return undefined
  try {
    for (;;) {
      const left = await orStoreError(redis.pttl(permits))
      // A key whose last millisecond runs still answers 0.
      if (left < 0) break
      if (left > longestWaitMs) throw tooSlow(left)
      await delay(left + 1)
    }
    const until = performance.now() + workMs
    if (!(await holdLease(redis, lease))) return undefined
    const isOpen = async () => (await orStoreError(redis.get(window))) === lease.token && performance.now() < until
    const beginEpoch = async () => void (await orStoreError(redis.set(epoch, newToken())))
    return await work({ timeUp: AbortSignal.timeout(workMs), isOpen, beginEpoch })
  } finally {
    await endLease(redis, lease)
  }
}

function tooSlow(leftMs: number): AppError {
  const seconds = Math.ceil(leftMs / 1000)
  return new AppError('STORE_002', `a put is so slow that nothing can be deleted for ${seconds} s`)
}

const PermitReply = z.tuple([z.number(), z.string()])
const permitScript = plainScript('put-permit')
const permitMs = 4_000
/** Is longer than any request to a store takes, its retries included. */
const longestMs = 300_000
/** The clocks of two machines run alike to better than this. */
const driftMs = 200
const askEveryMs = 250

/**
 * Is the writers' side of the window. A process asks once for all puts of the next seconds; a put that took longer than the
 * permit is made again under a longer one. Waits while a window is open. STORE_001 without Redis.
 */
export function openPutPermit(redis: RedisClient, namespace = 'remora', firstMs = permitMs) {
  const { window, permits, epoch: epochKey } = collectionKeys(namespace)
  let validUntil = -Infinity
  let epoch = ''
  let asking: Promise<void> | undefined

  const ask = async (ms: number): Promise<void> => {
    for (;;) {
      const askedAt = performance.now()
      const answer = await orStoreError(permitScript(redis, [window, permits, epochKey], [ms]))
      const [left, current] = PermitReply.parse(answer)
      if (left === 0) {
        epoch = current
        validUntil = askedAt + ms - driftMs
        return
      }
      await delay(Math.min(left, askEveryMs))
    }
  }
  const permitted = async (ms: number): Promise<void> => {
    while (performance.now() > validUntil - (ms - driftMs) / 2) {
      asking ??= ask(ms).finally(() => (asking = undefined))
      await asking
    }
  }
  /** Runs `put` outside any window; `put` may run again. What was put in its `epoch`, not too long ago, is still there. */
  return async (put: (epoch: string) => Promise<void>): Promise<void> => {
    for (let ms = firstMs; ; ms = Math.min(ms * 4, longestMs)) {
      await permitted(ms)
      await put(epoch)
      if (performance.now() < validUntil) return
    }
  }
}
