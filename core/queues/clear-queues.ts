import type { RedisClient } from '#platform/connect-redis.ts'
import { catalog } from './catalog.ts'

const sliceKeys = 500

/**
 * Empties every queue, for who knows that nobody works on them: jobs of processes that are gone would be held back until
 * their locks run out. Nothing is lost by it, since the ledger knows what is to be done and the dispatcher adds it again.
 */
export async function clearQueues(redis: RedisClient, prefix = '{remora}'): Promise<void> {
  for (const queue of Object.keys(catalog)) {
    let cursor = '0'
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `${prefix}:${queue}:*`, 'COUNT', sliceKeys)
      if (keys.length > 0) await redis.unlink(...keys)
      cursor = next
    } while (cursor !== '0')
  }
}
