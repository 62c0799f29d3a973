import { hash } from 'node:crypto'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { ZodError } from 'zod'
import { AppError } from '#domain/error.ts'
import { type Log, redisName, type StoreLog } from './log.ts'
import { type ClusterAddress, parseRedisUrl, type SentinelAddress } from './server-urls.ts'

/** One server, or a cluster that looks like one to commands whose keys share a hash tag. */
export type RedisClient = Redis | Cluster

export type RedisLog = StoreLog & Pick<Log, 'warn' | 'isFailing'>

export type RedisPatience = {
  /** Counts the tries of a command over a new connection before it fails; null for as long as it takes. */
  retries: number | null
  connectTimeoutMs?: number
  /** A command that a connected server leaves unanswered for so long fails; without it, commands wait for it. */
  answerMs?: number
  /** A connection over which no answer has come for so long while one was due is closed; by default 10 s. */
  silentMs?: number
}

export type RedisConnection = {
  redis: RedisClient
  /** A server that stopped answering without closing its connection still counts until it has been silent for too long. */
  isConnected(): boolean
  /** Makes commands that wait for an unreachable server fail from now on. A working connection is not affected. */
  stopWaiting(): void
}

const defaultConnectMs = 10_000
/** Suits what is tried again later: a Redis that hangs for longer is away. */
export const patientAnswerMs = 10_000
const maxRestMs = 500
/**
 * Ends the wait for a connection that loses packets without an error (a dead machine, a firewall that forgets), for which TCP takes 15
 * minutes. It is twice as long as BullMQ waits for a job, and less than half of the usual lease.
 */
const defaultSilentMs = 10_000

const nodeName = (address: string) => `${redisName} node ${address}`

/** Opens a connection that reconnects by itself, and whose outages are logged. CONFIG_003 for a `url` that is not a `RedisUrl`. */
export function connectRedis(url: string, patience: RedisPatience, log: RedisLog): RedisConnection {
  const { retries, connectTimeoutMs = defaultConnectMs, answerMs, silentMs = defaultSilentMs } = patience
  const limits = {
    maxRetriesPerRequest: retries,
    connectTimeout: connectTimeoutMs,
    socketTimeout: silentMs,
    ...(answerMs === undefined ? {} : { commandTimeout: answerMs }),
  }
  const address = parseRedisUrl(url)
  if (address === undefined)
    throw new AppError('CONFIG_003', 'not the address of a Redis, of a Redis cluster or of sentinels')
  let waits = true
  const restMs = (times: number) => (waits ? Math.min(times * 50, maxRestMs) : null)
  const single = { ...limits, retryStrategy: restMs }
  const redis =
    address.kind === 'cluster'
      ? openRedisCluster(address, { retries, limits, restMs, log })
      : address.kind === 'sentinel'
        ? new Redis({ ...single, ...masterOf(address), sentinelRetryStrategy: restMs })
        : // With ioredis' own disconnect() between two tries, commands that wait for the next try would wait for ever.
          new Redis(url, single)
  // Without a listener a lost connection would end the process.
  redis.on('error', (error: Error) => log.failing(redisName, redis, error))
  redis.on('ready', () => log.working(redisName, redis))
  return {
    redis,
    // An unreachable cluster stays `ready` as long as it knows a node that it has not tried.
    isConnected: () => (redis instanceof Cluster ? redis.nodes() : [redis]).some(({ status }) => status === 'ready'),
    stopWaiting() {
      waits = false
    },
  }
}

/** One that takes connections and does not answer is left for the next one. */
const sentinelAnswerMs = 3_000

/** ioredis reconnects, and sends the command again. */
const resend = 2 as const

/** Not ioredis' `failoverDetector`: a failover while it connects would end the connection for good. */
function masterOf(address: SentinelAddress) {
  const { nodes, name, tls } = address
  return {
    sentinels: [...nodes],
    name,
    sentinelCommandTimeout: sentinelAnswerMs,
    reconnectOnError: (error: Error) => (isReply(error, 'READONLY') ? resend : false),
    ...loginOf(address),
    ...(tls ? { tls: {}, enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
  }
}

function loginOf({ username, password }: Pick<ClusterAddress, 'username' | 'password'>) {
  return { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) }
}

type ClusterPatience = Pick<RedisPatience, 'retries'> & {
  limits: Pick<RedisOptions, 'maxRetriesPerRequest' | 'connectTimeout' | 'socketTimeout' | 'commandTimeout'>
  /** The pause before the given try to connect, counted from one; null: stop trying. */
  restMs: (times: number) => number | null
  log: RedisLog
}

const redirections = 2
/** Two nodes that send a command to each other, as they may during a failover, must not keep this process busy. */
const movedRestMs = 20

function openRedisCluster(address: ClusterAddress, patience: ClusterPatience): Cluster {
  const { retries, limits, restMs, log } = patience
  const { nodes, tls } = address
  let gaveUp = false
  const cluster = new Cluster([...nodes], {
    // A name is resolved when its node is connected (TLS checks the name), so that an unknown name costs only one node.
    dnsLookup: (host, callback) => callback(null, host),
    maxRedirections: retries === null ? Infinity : retries + redirections,
    retryDelayOnFailover: maxRestMs,
    retryDelayOnClusterDown: maxRestMs,
    retryDelayOnMoved: movedRestMs,
    clusterRetryStrategy: (times) => {
      gaveUp = retries !== null && times % (retries + 1) === 0
      return gaveUp ? null : restMs(times)
    },
    redisOptions: { ...limits, ...loginOf(address), ...(tls ? { tls: {} } : {}) },
  })
  // Only a connection that has ended fails the commands that wait for it. Those that come later wait for the next one.
  cluster.on('end', () => {
    if (gaveUp && restMs(1) !== null) cluster.connect().catch(() => undefined)
    gaveUp = false
  })
  cluster.on('node error', (error: Error, node: string) => {
    // One that is not ready says so itself, for all its nodes.
    if (cluster.status === 'ready') log.failing(nodeName(node), cluster, error)
  })
  cluster.on('+node', (node: Redis) => {
    node.once('ready', () => log.working(nodeName(`${node.options.host}:${node.options.port}`), cluster))
  })
  return cluster
}

/** Redis' error replies name their kind in their first word; that word, not the sentence after it, is the interface. */
export function replyKind(error: unknown): string | undefined {
  return error instanceof Error && error.name === 'ReplyError' ? error.message.split(' ', 1)[0] : undefined
}

export function isReply(error: unknown, kind: string): boolean {
  return replyKind(error) === kind
}

/** Is true when Redis cannot do what it was asked: it is full, starting, failing over … Other replies say that we asked wrongly. */
export function isRefusal(error: unknown): boolean {
  const kind = replyKind(error)
  return kind !== undefined && kind !== 'ERR' && kind !== 'WRONGTYPE'
}

/** Is true when our own code, or a library's, failed. ioredis has no error class for a lost connection, so the others are recognised. */
export function isOwnError(error: unknown): boolean {
  const ownKinds = [AppError, ZodError, RangeError, SyntaxError, TypeError]
  if (ownKinds.some((kind) => error instanceof kind)) return true
  return replyKind(error) !== undefined && !isRefusal(error)
}

export type ScriptArg = string | number

/** Runs one Lua script in Redis, in one round trip; its source is sent only when the server does not have it yet. */
export type Script = (redis: RedisClient, keys: readonly string[], args: readonly ScriptArg[]) => Promise<unknown>

export function redisScript(source: string): Script {
  const sha = hash('sha1', source, 'hex')
  return async (redis, keys, args) => {
    try {
      return await redis.evalsha(sha, keys.length, ...keys, ...args)
    } catch (error) {
      if (!isReply(error, 'NOSCRIPT')) throw error
      return redis.eval(source, keys.length, ...keys, ...args)
    }
  }
}
