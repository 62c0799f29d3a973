import { DelayedError, WaitingError, Worker, type Job } from 'bullmq'
import { AppError } from '#domain/error.ts'
import { delay } from '#platform/clock.ts'
import { connectRedis } from '#platform/connect-redis.ts'
import type { Log } from '#platform/log.ts'
import { catalog, isNewerPayload, type PayloadOf, type QueueName } from './catalog.ts'

const defaultLockMs = 30_000
/** The ledger counts how often a worker was lost; the queue only has to deliver again each time. */
const maxStalledCount = 100
/** How long handlers get to end after their signals are aborted. */
const abortedMs = 5_000
const putOffMs = 1_000
/** BullMQ's own rest after a failed command, 15 s, is longer than a failover of Redis. */
const runRetryMs = 1_000
const lockLost = 'the queue has given the job to another worker'

export type ConsumerOptions<Q extends QueueName> = {
  queue: Q
  redisUrl: string
  prefix?: string
  concurrency: number
  /** The queue gives a job to another worker when this one has been silent for so long. */
  lockMs?: number
  /**
   * What becomes of a handler whose job the queue gives to another worker, or has lost: aborted, which is the default, or
   * left to go on, because its work is fenced by the ledger and the other delivery finds it under way.
   */
  lostLock?: 'abort' | 'go_on'
  log: Pick<Log, 'warn' | 'error'>
  /**
   * Called with a checked payload. Aborted when the consumer closes, or as `lostLock` says. `stalls`: how often a worker
   * that had the job fell silent.
   */
  handler: (payload: PayloadOf<Q>, signal: AbortSignal, stalls: number) => Promise<void>
}

export type Consumer = {
  /** Takes no more jobs, waits `graceMs` for the running ones, then aborts their signals. */
  close(options: { graceMs: number }): Promise<void>
}

/**
 * Works on the jobs of a queue, `concurrency` at a time. A payload that does not match the catalogue is logged and done
 * with; one of a newer version is left to a newer consumer. A handler that throws is logged; its job is gone, and what
 * to do about it is the ledger's business. Only when it throws because its signal was aborted, or an AppError that says
 * to try again or that the run is a newer version's (RUN_005), is the job delivered again.
 */
export function openConsumer<Q extends QueueName>(options: ConsumerOptions<Q>): Consumer {
  const { queue, log, lockMs = defaultLockMs } = options
  // Blocking commands wait through any outage of Redis instead of failing after some tries.
  const { redis: connection, isConnected, stopWaiting } = connectRedis(options.redisUrl, { retries: null }, log)
  let running = 0
  const handler: typeof options.handler = async (payload, signal, stalls) => {
    running += 1
    try {
      await options.handler(payload, signal, stalls)
    } finally {
      running -= 1
    }
  }
  // BullMQ hands over an AbortSignal only to a function that declares three parameters.
  const process = async (job: Job, token: string | undefined, signal: AbortSignal | undefined) => {
    await work({ ...options, handler }, job, { token, signal: signal ?? new AbortController().signal })
  }
  const worker = new Worker(queue, process, {
    connection,
    prefix: options.prefix ?? '{remora}',
    concurrency: options.concurrency,
    lockDuration: lockMs,
    stalledInterval: lockMs / 2,
    maxStalledCount,
    runRetryDelay: runRetryMs,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  })
  worker.on('error', (error) => log.warn('worker of a queue', { queue, error }))
  worker.on('lockRenewalFailed', (jobs) => {
    if (options.lostLock === 'go_on') return
    for (const job of jobs) worker.cancelJob(job, lockLost)
  })
  return {
    async close({ graceMs }) {
      // BullMQ would wait for a Redis that is away for ever; its jobs are delivered again when it is back.
      stopWaiting()
      const isAway = !isConnected()
      const closing = worker.close(isAway)
      try {
        if (!isAway && (await within(graceMs, closing))) return
        worker.cancelAllJobs('the worker is shutting down')
        // A Redis that went away during the close keeps BullMQ from its end, though every handler has ended.
        if (!(await within(abortedMs, closing)) && running > 0) log.error('jobs did not end when aborted', { queue })
      } finally {
        connection.disconnect()
      }
    },
  }
}

type Delivery = { token: string | undefined; signal: AbortSignal }

async function work<Q extends QueueName>(
  options: ConsumerOptions<Q>,
  job: Job,
  { token, signal }: Delivery,
): Promise<void> {
  const { queue, log } = options
  const payload = catalog[queue].safeParse(job.data)
  if (!payload.success) {
    if (isNewerPayload(job.data)) {
      log.warn('a job of a newer version waits for a worker that knows it', { queue, job: job.id })
      throw await putOff(job, token)
    }
    log.error('a job that does not match the catalogue', { queue, job: job.id, error: payload.error })
    return
  }
  try {
    await options.handler(payload.data, signal, job.stalledCounter)
  } catch (error) {
    if (signal.aborted) throw await putBack(job, token)
    log.error('a job failed', { queue, job: job.id, error })
    if (error instanceof AppError && (error.retry || error.code === 'RUN_005')) throw await putOff(job, token)
  }
}

/** Leaves a job that was cut off to the next worker. One that has lost its lock is delivered again anyway. */
async function putBack(job: Job, token: string | undefined): Promise<Error> {
  await job.moveToWait(token).catch(() => undefined)
  return new WaitingError()
}

/** Delivers a job again after a rest: what it needs was out of reach. */
async function putOff(job: Job, token: string | undefined): Promise<Error> {
  await job.moveToDelayed(Date.now() + putOffMs, token).catch(() => undefined)
  return new DelayedError()
}

/** Whether `ending` comes within `ms`. */
async function within(ms: number, ending: Promise<void>): Promise<boolean> {
  const limit = new AbortController()
  const tooLate = delay(ms, limit.signal).then(
    () => false,
    () => false,
  )
  try {
    return await Promise.race([ending.then(() => true).catch(() => tooLate), tooLate])
  } finally {
    limit.abort()
  }
}
