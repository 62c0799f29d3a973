import { z } from 'zod'
import { orStoreError } from '#store/ledger/store.ts'

export type SharedRateLimit = {
  /** It returns 0 when the request is counted, else in how many milliseconds it may be made. */
  take(tokenId: string, perMinute: number): Promise<number>
}

type Scripts = { eval(script: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown> }

/** The bucket is one time (GCRA): when it is full again. A refused request changes nothing, and Redis forgets a full bucket by itself. */
const take = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000
local minute = 60000
local step = minute / tonumber(ARGV[1])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now) + step
-- A lower limit than before must not make it wait for longer than a minute.
full = math.min(full, now + minute + step)
local wait = full - minute - now
-- Times have a part of a millisecond that is not exact.
if wait > 0.01 then return math.ceil(wait) end
redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', math.ceil(full - now))
return 0`

/** A token has so many requests at once, and as many a minute in the long run, at all processes together. STORE_001 when Redis cannot be asked. */
export function openSharedRateLimit(redis: Scripts, namespace = 'remora'): SharedRateLimit {
  return {
    async take(tokenId, perMinute) {
      const key = `${namespace}:{tokens}:rate:${tokenId}`
      return z.int().parse(await orStoreError(redis.eval(take, 1, key, String(perMinute))))
    },
  }
}
