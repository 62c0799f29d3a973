import type { Queue } from 'bullmq'
import type { ChainableCommander } from 'ioredis'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { openStoreUser, redisName, type StoreUser } from '#platform/log.ts'
import {
  connectRedis,
  patientAnswerMs,
  isOwnError,
  isRefusal,
  isReply,
  type RedisClient,
  type RedisLog,
} from '#platform/redis-client.ts'
import { catalog, type PayloadOf, payloadVersion, type QueueName } from './catalog.ts'

/** Jobs in one pipeline; more would block Redis' other clients. */
const sliceJobs = 1_000
const patience = { retries: 20, answerMs: patientAnswerMs }
/** Nothing reads BullMQ's own events: the ledger has them. */
const keptQueueEvents = 100

/** `priority`: the lowest is delivered first, those without one before all others. */
export type JobToAdd<Q extends QueueName> = { id: string; payload: PayloadOf<Q>; priority?: number }

export type Producer = {
  add<Q extends QueueName>(queue: Q, id: string, payload: PayloadOf<Q>): Promise<void>
  addMany<Q extends QueueName>(queue: Q, jobs: readonly JobToAdd<Q>[]): Promise<void>
  /** The `ids` the queue will not deliver: never added, done or lost. May be out of date at once. */
  missing(queue: QueueName, ids: readonly string[]): Promise<string[]>
  /** Deletes the remains of missing jobs: a queue that was partly deleted may have kept their data. */
  discard(queue: QueueName, ids: readonly string[]): Promise<void>
  countJobs(queue: QueueName): Promise<JobCounts>
  close(): Promise<void>
}

/** A `waiting` job waits for a consumer; a `delayed` one was put off by one. */
export type JobCounts = { waiting: number; active: number; delayed: number }

/** A job whose id waits or is active is not added again. STORE_001 while Redis is unreachable. BullMQ is loaded for the first job. */
export function openProducer(options: { redisUrl: string; prefix?: string; log: RedisLog }): Producer {
  const { redisUrl, prefix = '{remora}', log } = options
  const { redis: connection, isConnected, stopWaiting } = connectRedis(redisUrl, patience, log)
  const stores = openStoreUser(log)
  const { queueOf, closeAll } = openQueues({ connection, isConnected, prefix, stores, log })
  const tried = async <T>(work: Promise<T>, message: string): Promise<T> => {
    const answer = await orStoreError(work, message)
    stores.worked()
    return answer
  }

  async function addMany<Q extends QueueName>(name: Q, jobs: readonly JobToAdd<Q>[]): Promise<void> {
    for (let first = 0; first < jobs.length; first += sliceJobs) {
      const slice = jobs.slice(first, first + sliceJobs)
      const bulk = slice.map(({ id, payload, priority }) => ({
        name,
        data: { ...payload, v: payloadVersion },
        opts: { ...once(id), ...(priority === undefined ? {} : { priority }) },
      }))
      const adding = queueOf(name).then((queue) => addBulk(queue, bulk))
      await tried(adding, 'The job cannot be added to its queue.')
    }
  }

  return {
    add: (name, id, payload) => addMany(name, [{ id, payload }]),
    addMany,
    async missing(name, ids) {
      const { toKey } = await queueOf(name)
      return tried(missingJobs(connection, toKey, ids), 'The queue cannot be asked for its jobs.')
    },
    async discard(name, ids) {
      const { toKey } = await queueOf(name)
      const left = Promise.all(ids.map((id) => connection.unlink(toKey(id))))
      await tried(left, 'What is left of lost jobs cannot be removed.')
    },
    async countJobs(name) {
      const counting = (await queueOf(name)).getJobCounts('wait', 'prioritized', 'active', 'delayed')
      const counts = await tried(counting, 'The queue cannot be asked for its length.')
      const count = (...states: string[]) => states.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
      return { waiting: count('wait', 'prioritized'), active: count('active'), delayed: count('delayed') }
    },
    async close() {
      stopWaiting()
      await closeAll()
      connection.disconnect()
    },
  }
}

type QueueDeps = {
  connection: RedisClient
  isConnected(): boolean
  prefix: string
  stores: StoreUser
  log: RedisLog
}

function openQueues({ connection, isConnected, prefix, stores, log }: QueueDeps) {
  const queues = new Map<QueueName, Queue>()
  const queueOf = async (name: QueueName): Promise<Queue> => {
    const bullmq = await import('bullmq')
    const known = queues.get(name)
    if (known !== undefined) return known
    const queue = new bullmq.Queue(name, { connection, prefix, streams: { events: { maxLen: keptQueueEvents } } })
    // While the connection does not work, `connectRedis` logs that for all who use it.
    queue.on('error', (error) => isConnected() && logError(error, name))
    queues.set(name, queue)
    // BullMQ does not start again what a cluster that was away has kept from starting.
    queue.waitUntilReady().catch(() => {
      queues.delete(name)
      queue.close().catch(() => undefined)
    })
    return queue
  }
  const logError = (error: Error, queue: QueueName) => {
    if (isRefusal(error) || (log.isFailing(redisName) && !isOwnError(error))) stores.lacks(redisName, error)
    else log.warn('queue', { queue, error })
  }
  return { queueOf, closeAll: () => Promise.all([...queues.values()].map((queue) => queue.close())) }
}

/** Retries belong to the ledger (dispatches and leases), not to the queue. */
function once(jobId: string) {
  return { jobId, attempts: 1, removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0 }
}

/** When a cluster node refuses a pipeline because it is starting, ioredis sends it again without its script. */
async function addBulk(queue: Queue, bulk: Parameters<Queue['addBulk']>[0]): Promise<void> {
  try {
    await queue.addBulk(bulk)
  } catch (error) {
    if (!isReply(error, 'NOSCRIPT')) throw error
    await queue.addBulk(bulk)
  }
}

async function orStoreError<T>(work: Promise<T>, message: string): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (isOwnError(error)) throw error
    throw new AppError('STORE_001', message, { cause: error })
  }
}

type ToKey = Queue['toKey']

const Flags = z.array(z.number())
const Members = z.array(z.array(z.string()))

async function repliesOf(commands: ChainableCommander): Promise<unknown[]> {
  const answers = (await commands.exec()) ?? []
  for (const [error] of answers) if (error !== null) throw error
  return answers.map(([, reply]) => reply)
}

/** A job needs its hash and its id in one list or sorted set. A hash without data was made by BullMQ for an id that had none. */
async function missingJobs(redis: RedisClient, toKey: ToKey, ids: readonly string[]): Promise<string[]> {
  const stored = new Set<string>()
  for (let first = 0; first < ids.length; first += sliceJobs) {
    for (const id of await withData(redis, toKey, ids.slice(first, first + sliceJobs))) stored.add(id)
  }
  const listed = stored.size === 0 ? stored : await listedIds(redis, toKey)
  return ids.filter((id) => !stored.has(id) || !listed.has(id))
}

async function withData(redis: RedisClient, toKey: ToKey, ids: readonly string[]): Promise<string[]> {
  const pipeline = redis.pipeline()
  for (const id of ids) pipeline.hexists(toKey(id), 'data')
  const flags = Flags.parse(await repliesOf(pipeline))
  return ids.filter((_id, index) => flags[index] === 1)
}

/** Reads in one transaction, at a cost that grows with the queue: a job that moves between lists during several reads would be in none. */
async function listedIds(redis: RedisClient, toKey: ToKey): Promise<Set<string>> {
  const transaction = redis.multi()
  for (const list of ['wait', 'paused', 'active']) transaction.lrange(toKey(list), 0, -1)
  for (const set of ['delayed', 'prioritized']) transaction.zrange(toKey(set), '0', '-1')
  return new Set(Members.parse(await repliesOf(transaction)).flat())
}

const sliceKeys = 500

/** Deletes all queues while no worker runs: jobs of ended processes would wait until their locks expire. */
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
