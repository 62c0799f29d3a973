import { Redis } from 'ioredis'
import type { Log } from '#platform/log.ts'

/** A connection for consumers: blocking commands wait through any outage of Redis instead of failing after some tries. */
export function consumerConnection(redisUrl: string, log: Pick<Log, 'warn'>): Redis {
  return connectionTo(redisUrl, log, null)
}

/** A connection for producers: adding a job fails when Redis stays away. */
export function producerConnection(redisUrl: string, log: Pick<Log, 'warn'>): Redis {
  return connectionTo(redisUrl, log, 20)
}

function connectionTo(redisUrl: string, log: Pick<Log, 'warn'>, maxRetriesPerRequest: number | null): Redis {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest })
  // Without a listener a lost connection would end the process; ioredis connects again by itself.
  redis.on('error', (error: Error) => log.warn('connection to Redis', { error }))
  return redis
}
