import { Queue } from 'bullmq'
import { AppError } from '#domain/error.ts'
import { connectRedis } from '#platform/connect-redis.ts'
import type { Log } from '#platform/log.ts'
import { isReply } from '#platform/redis-reply.ts'
import { payloadVersion, type PayloadOf, type QueueName } from './catalog.ts'
import { missingJobs } from './missing-jobs.ts'

/** BullMQ adds a bulk in one pipeline; larger ones would keep Redis from its other clients. */
const bulkJobs = 1_000
/** Adding a job fails when Redis stays away. */
const commandRetries = 20
/** Nothing reads BullMQ's own events; what happened is in the ledger. */
const keptQueueEvents = 100

export type JobToAdd<Q extends QueueName> = { id: string; payload: PayloadOf<Q> }

export type Producer = {
  add<Q extends QueueName>(queue: Q, id: string, payload: PayloadOf<Q>): Promise<void>
  addMany<Q extends QueueName>(queue: Q, jobs: readonly JobToAdd<Q>[]): Promise<void>
  /**
   * Those of these jobs that the queue will not deliver: never added, done, or lost. Only a hint once it is answered,
   * since jobs go on being added and worked on.
   */
  missing(queue: QueueName, ids: readonly string[]): Promise<string[]>
  /** Drops what is left of jobs that are missing: a queue that was deleted in part may have kept their data. */
  discard(queue: QueueName, ids: readonly string[]): Promise<void>
  close(): Promise<void>
}

/**
 * Adds jobs. One whose id is waiting or being worked on is not added again. A job is delivered once, and again only
 * when its worker died; it leaves nothing behind when it is done or has failed. STORE_001 while Redis is away.
 */
export function openProducer(options: { redisUrl: string; prefix?: string; log: Pick<Log, 'warn'> }): Producer {
  const { redisUrl, prefix = '{remora}', log } = options
  const { redis: connection, stopWaiting } = connectRedis(redisUrl, { retries: commandRetries }, log)
  const queues = new Map<QueueName, Queue>()

  const queueOf = (name: QueueName): Queue => {
    const known = queues.get(name)
    if (known !== undefined) return known
    const queue = new Queue(name, { connection, prefix, streams: { events: { maxLen: keptQueueEvents } } })
    queue.on('error', (error) => log.warn('queue', { queue: name, error }))
    queues.set(name, queue)
    // BullMQ does not start again what a cluster that was away has kept from starting.
    queue.waitUntilReady().catch(() => {
      queues.delete(name)
      queue.close().catch(() => undefined)
    })
    return queue
  }

  async function addMany<Q extends QueueName>(name: Q, jobs: readonly JobToAdd<Q>[]): Promise<void> {
    for (let first = 0; first < jobs.length; first += bulkJobs) {
      const slice = jobs.slice(first, first + bulkJobs)
      const bulk = slice.map(({ id, payload }) => ({
        name,
        data: { ...payload, v: payloadVersion },
        opts: once(id),
      }))
      await orStoreError(addBulk(queueOf(name), bulk), 'The job cannot be added to its queue.')
    }
  }

  return {
    add: (name, id, payload) => addMany(name, [{ id, payload }]),
    addMany,
    missing: (name, ids) =>
      orStoreError(missingJobs(connection, queueOf(name).toKey, ids), 'The queue cannot be asked for its jobs.'),
    async discard(name, ids) {
      const { toKey } = queueOf(name)
      const left = Promise.all(ids.map((id) => connection.unlink(toKey(id))))
      await orStoreError(left, 'What is left of lost jobs cannot be removed.')
    },
    async close() {
      stopWaiting()
      await Promise.all([...queues.values()].map((queue) => queue.close()))
      connection.disconnect()
    },
  }
}

/** Retries are the ledger's business (dispatches and leases), not the queue's. */
function once(jobId: string) {
  return { jobId, attempts: 1, removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0 }
}

/** A pipeline that a node of a cluster had refused (it was starting) is sent again by ioredis without its script. */
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
    throw new AppError('STORE_001', message, { cause: error })
  }
}
