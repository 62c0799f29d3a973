import { Cluster, Redis } from 'ioredis'
import { AppError } from '#domain/error.ts'
import { openRedisCluster } from './redis-cluster.ts'
import type { Log } from './log.ts'
import { parseRedisUrl } from './redis-url.ts'

/** One server, or a cluster that looks like one to commands whose keys share a hash tag. */
export type RedisClient = Redis | Cluster

export type RedisPatience = {
  /** How often a command is tried over a new connection before it fails; null: for as long as it takes. */
  retries: number | null
  connectTimeoutMs?: number
}

export type RedisConnection = {
  redis: RedisClient
  /** Whether a server is connected now; one that fell silent without a word still counts for a while. */
  isConnected(): boolean
  /**
   * From now on a server that is away is not waited for: what waits for it fails. A connection that works is left
   * alone.
   */
  stopWaiting(): void
}

const defaultConnectMs = 10_000
const maxRestMs = 500

/**
 * A connection that lasts: it connects again by itself, and what is wrong with it is in the log. CONFIG_003 for a `url`
 * that is none of redis-url.ts.
 */
export function connectRedis(url: string, patience: RedisPatience, log: Pick<Log, 'warn'>): RedisConnection {
  const { retries, connectTimeoutMs = defaultConnectMs } = patience
  const address = parseRedisUrl(url)
  if (address === undefined) throw new AppError('CONFIG_003', 'not the address of a Redis or of a Redis cluster')
  let waits = true
  const restMs = (times: number) => (waits ? Math.min(times * 50, maxRestMs) : null)
  const redis =
    address.kind === 'cluster'
      ? openRedisCluster(address, { retries, connectTimeoutMs, restMs, maxRestMs, log })
      : // ioredis' own disconnect() between two tries would leave the commands that wait for the next one waiting for ever.
        new Redis(url, { maxRetriesPerRequest: retries, connectTimeout: connectTimeoutMs, retryStrategy: restMs })
  // Without a listener a lost connection would end the process.
  redis.on('error', (error: Error) => log.warn('connection to Redis', { error }))
  return {
    redis,
    // A cluster that is away stays ready as long as it knows a node that it has not tried.
    isConnected: () => (redis instanceof Cluster ? redis.nodes() : [redis]).some(({ status }) => status === 'ready'),
    stopWaiting() {
      waits = false
    },
  }
}
