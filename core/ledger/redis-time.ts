import { z } from 'zod'
import type { LedgerStore } from './store.ts'

/** Milliseconds since the epoch by Redis' clock. */
export async function redisNowMs(redis: LedgerStore['redis']): Promise<number> {
  const [seconds, microseconds] = z.tuple([z.coerce.number(), z.coerce.number()]).parse(await redis.time())
  return Math.floor(seconds * 1000 + microseconds / 1000)
}
