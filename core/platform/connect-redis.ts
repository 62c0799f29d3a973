import { Redis } from 'ioredis'
import type { Log } from './log.ts'

export type RedisPatience = {
  /** How often a command is tried over a new connection before it fails; null: for as long as it takes. */
  retries: number | null
  connectTimeoutMs?: number
}

export type RedisConnection = {
  redis: Redis
  /**
   * From now on a server that is away is not waited for: what waits for it fails. A connection that works is left
   * alone.
   */
  stopWaiting(): void
}

const maxRestMs = 500

/** A connection that lasts: it connects again by itself, and what is wrong with it is in the log. */
export function connectRedis(url: string, patience: RedisPatience, log: Pick<Log, 'warn'>): RedisConnection {
  const { retries, connectTimeoutMs = 10_000 } = patience
  let waits = true
  const redis = new Redis(url, {
    maxRetriesPerRequest: retries,
    connectTimeout: connectTimeoutMs,
    // ioredis' own disconnect() between two tries would leave the commands that wait for the next one waiting for ever.
    retryStrategy: (times) => (waits ? Math.min(times * 50, maxRestMs) : null),
  })
  // Without a listener a lost connection would end the process.
  redis.on('error', (error: Error) => log.warn('connection to Redis', { error }))
  return {
    redis,
    stopWaiting() {
      waits = false
    },
  }
}
