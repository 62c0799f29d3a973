import { Queue } from 'bullmq'
import { AppError } from '#domain/error.ts'
import { connectRedis } from '#platform/connect-redis.ts'
import type { Log } from '#platform/log.ts'
import type { PayloadOf, QueueName } from './catalog.ts'

/** BullMQ adds a bulk in one transaction; larger ones would keep Redis from its other clients. */
const bulkJobs = 1_000
/** Adding a job fails when Redis stays away. */
const commandRetries = 20
/** Nothing reads BullMQ's own events; what happened is in the ledger. */
const keptQueueEvents = 100

export type JobToAdd<Q extends QueueName> = { id: string; payload: PayloadOf<Q> }

export type Producer = {
  add<Q extends QueueName>(queue: Q, id: string, payload: PayloadOf<Q>): Promise<void>
  addMany<Q extends QueueName>(queue: Q, jobs: readonly JobToAdd<Q>[]): Promise<void>
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
    return queue
  }

  async function addMany<Q extends QueueName>(name: Q, jobs: readonly JobToAdd<Q>[]): Promise<void> {
    for (let first = 0; first < jobs.length; first += bulkJobs) {
      const slice = jobs.slice(first, first + bulkJobs)
      await orStoreError(queueOf(name).addBulk(slice.map((job) => ({ name, data: job.payload, opts: once(job.id) }))))
    }
  }

  return {
    add: (name, id, payload) => addMany(name, [{ id, payload }]),
    addMany,
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

async function orStoreError(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    throw new AppError('STORE_001', 'The job cannot be added to its queue.', { cause: error })
  }
}
