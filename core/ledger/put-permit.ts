import { z } from 'zod'
import { delay } from '#platform/clock.ts'
import type { RedisClient } from '#platform/connect-redis.ts'
import { collectionKeys } from './keys.ts'
import { plainScript } from './script.ts'
import { orStoreError } from './store-error.ts'

const script = plainScript('put-permit')
const permitMs = 4_000
/** Longer than any request to a store takes, its retries included. */
const longestMs = 300_000
/** The clocks of two machines run alike to better than this. */
const driftMs = 200
const askEveryMs = 250

/** Runs `put` so that no part of it falls into a window of the collection; it may run again, so it must be repeatable. */
export type PutPermit = (put: () => Promise<void>) => Promise<void>

/**
 * The writers' side of collection-window.ts. A process asks once for all puts of the next few seconds; a put that lasted
 * longer than the permit is made again under a longer one. While a window is open, it waits. STORE_001 without Redis.
 */
export function openPutPermit(redis: RedisClient, namespace = 'remora', firstMs = permitMs): PutPermit {
  const { window, permits } = collectionKeys(namespace)
  let validUntil = -Infinity
  let asking: Promise<void> | undefined

  const ask = async (ms: number): Promise<void> => {
    for (;;) {
      const askedAt = performance.now()
      const left = z.number().parse(await orStoreError(script(redis, [window, permits], [ms])))
      if (left === 0) {
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
  return async (put) => {
    for (let ms = firstMs; ; ms = Math.min(ms * 4, longestMs)) {
      await permitted(ms)
      await put()
      if (performance.now() < validUntil) return
    }
  }
}
