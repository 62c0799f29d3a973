import { Cluster } from 'ioredis'
import type { Log } from './log.ts'
import type { ClusterAddress } from './redis-url.ts'

export type ClusterPatience = {
  retries: number | null
  connectTimeoutMs: number
  /** How long to rest before the given try to connect, counted from one; null: not to try any more. */
  restMs: (times: number) => number | null
  maxRestMs: number
  log: Pick<Log, 'warn'>
}

/** A redirection to the node that has the slot now is no failure and takes none of the retries. */
const redirections = 2
/** Two nodes that send a command to each other, as they may during a failover, must not keep this process busy. */
const movedRestMs = 20

/** A connection to a cluster with the patience of connectRedis. */
export function openRedisCluster(address: ClusterAddress, patience: ClusterPatience): Cluster {
  const { retries, connectTimeoutMs, restMs, maxRestMs, log } = patience
  const { nodes, tls, username, password } = address
  let gaveUp = false
  const cluster = new Cluster([...nodes], {
    // A name is resolved when its node is connected to (TLS checks the name), so one unknown name is one node away.
    dnsLookup: (host, callback) => callback(null, host),
    maxRedirections: retries === null ? Infinity : retries + redirections,
    retryDelayOnFailover: maxRestMs,
    retryDelayOnClusterDown: maxRestMs,
    retryDelayOnMoved: movedRestMs,
    clusterRetryStrategy: (times) => {
      gaveUp = retries !== null && times % (retries + 1) === 0
      return gaveUp ? null : restMs(times)
    },
    redisOptions: {
      connectTimeout: connectTimeoutMs,
      maxRetriesPerRequest: retries,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(tls ? { tls: {} } : {}),
    },
  })
  // Only a connection that has ended fails the commands that wait for it. Those that come later wait for the next one.
  cluster.on('end', () => {
    if (gaveUp && restMs(1) !== null) cluster.connect().catch(() => undefined)
    gaveUp = false
  })
  cluster.on('node error', (error: Error, node: string) => {
    // One that is not ready says so itself, for all its nodes.
    if (cluster.status === 'ready') log.warn('connection to a node of Redis', { node, error })
  })
  return cluster
}
