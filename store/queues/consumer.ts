import { DelayedError, WaitingError, Worker, type Job } from 'bullmq'
import { AppError } from '#domain/error.ts'
import { after, delay } from '#platform/clock.ts'
import { type Log, openStoreUser, redisName, type StoreUser } from '#platform/log.ts'
import { connectRedis, isOwnError, isRefusal, type RedisLog } from '#platform/redis-client.ts'
import { catalog, isNewerPayload, type PayloadOf, type QueueName } from './catalog.ts'

const defaultLockMs = 30_000
/** The ledger counts lost workers; the queue only has to deliver the job again each time. */
const maxStalledCount = 100
/** Handlers may take so long to end after their signals are aborted. */
const abortedMs = 5_000
const putOffMs = 1_000
/** BullMQ's own pause after a failed command, 15 s, is longer than a failover of Redis. */
const runRetryMs = 1_000
const workerOptions = {
  maxStalledCount,
  runRetryDelay: runRetryMs,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
}
const lockLost = 'the queue has given the job to another worker'

export type ConsumerOptions<Q extends QueueName> = {
  queue: Q
  redisUrl: string
  prefix?: string
  concurrency: number
  /** The queue gives a job to another worker when this one has not renewed its lock for so long. */
  lockMs?: number
  /** Says whether a handler whose job went to another worker is aborted (the default). The ledger fences its work. */
  lostLock?: 'abort' | 'go_on'
  log: RedisLog & Pick<Log, 'error'>
  /** The signal is aborted on close, or as `lostLock` says. `stalls`: how often a worker lost the job before. `again`: it comes once more, a second later. */
  handler: (payload: PayloadOf<Q>, signal: AbortSignal, stalls: number) => Promise<void | 'again'>
}

export type Consumer = {
  /** Has at most so many jobs at once from now on; with 0 it takes no more. Those that run go on. */
  setConcurrency(most: number): void
  /** Takes no more jobs, waits `graceMs` for the running ones, then aborts their signals. */
  close(options: { graceMs: number }): Promise<void>
}

/**
 * Processes the jobs of a queue. A payload off the catalogue is logged and dropped; a newer version's is left to a newer
 * consumer. When a handler throws, the job is logged and removed, since retries belong to the ledger; it comes again only after
 * an abort, a retryable AppError, or RUN_005.
 */
export function openConsumer<Q extends QueueName>(options: ConsumerOptions<Q>): Consumer {
  const { queue, log, lockMs = defaultLockMs } = options
  // Blocking commands wait through any outage of Redis instead of failing after some tries.
  const { redis: connection, isConnected, stopWaiting } = connectRedis(options.redisUrl, { retries: null }, log)
  let running = 0
  const handler: typeof options.handler = (payload, signal, stalls) => {
    running += 1
    return options.handler(payload, signal, stalls).finally(() => (running -= 1))
  }
  const stores = openStoreUser(log)
  // BullMQ passes an AbortSignal only to a function that declares three parameters.
  const process = async (job: Job, token: string | undefined, signal: AbortSignal | undefined) => {
    if (taking.isPaused()) throw await putBack(job, token)
    await work({ ...options, handler, stores }, job, { token, signal: signal ?? new AbortController().signal })
  }
  const worker = new Worker(queue, process, {
    connection,
    prefix: options.prefix ?? '{remora}',
    concurrency: options.concurrency,
    lockDuration: lockMs,
    stalledInterval: lockMs / 2,
    ...workerOptions,
  })
  const taking = openTaking(worker)
  logErrors(worker, { queue, log, isConnected, onRefusal: taking.rest })
  const cancelLost = (jobs: string[]) => jobs.forEach((job) => worker.cancelJob(job, lockLost))
  if (options.lostLock !== 'go_on') worker.on('lockRenewalFailed', cancelLost)
  return {
    setConcurrency: taking.setConcurrency,
    async close({ graceMs }) {
      // BullMQ would wait without limit for an unreachable Redis; the jobs are delivered again once it is back.
      stopWaiting()
      taking.stop()
      const isAway = !isConnected()
      const closing = worker.close(isAway)
      try {
        if (!isAway && (await within(graceMs, closing))) return
        worker.cancelAllJobs('the worker is shutting down')
        // When Redis becomes unreachable during the close, BullMQ does not finish, though every handler has ended.
        if (!(await within(abortedMs, closing)) && running > 0) log.error('jobs did not end when aborted', { queue })
      } finally {
        connection.disconnect()
      }
    },
  }
}

/** After a command that Redis has refused BullMQ would ask again at once, 11,000 times a second. */
function openTaking(worker: Worker) {
  let [isPaused, isStopped] = [false, false]
  let endRest: (() => void) | undefined
  return {
    isPaused: () => isPaused,
    setConcurrency(most: number) {
      isPaused = most === 0
      if (isPaused) return void worker.pause(true)
      worker.concurrency = most
      if (endRest === undefined) void worker.resume()
    },
    rest() {
      if (isPaused || isStopped || endRest !== undefined) return
      void worker.pause(true)
      endRest = after(runRetryMs, () => {
        endRest = undefined
        if (!isPaused) void worker.resume()
      })
    },
    stop() {
      isStopped = true
      endRest?.()
    },
  }
}

type ErrorDeps = { queue: QueueName; log: RedisLog; isConnected(): boolean; onRefusal(): void }

/** BullMQ's codes for a job that has ended here after it was given to another worker, and ended there or goes on. */
const lostCodes: readonly unknown[] = [-1, -2]

/** When many jobs have lost their locks at once, one line says so, that of the outage if there is one. */
function logErrors(worker: Worker, { queue, log, isConnected, onRefusal }: ErrorDeps): void {
  const stores = openStoreUser(log)
  const locks = `the locks of the queue ${queue}`
  let renewals = 0 // an error of its own follows for each
  worker.on('lockRenewalFailed', (jobs) => void (renewals = jobs.length))
  worker.on('error', (error) => {
    const isLock = renewals > 0 || ('code' in error && lostCodes.includes(error.code))
    renewals = Math.max(0, renewals - 1)
    if (!isConnected()) return
    if (isRefusal(error)) onRefusal()
    if (isRefusal(error) || (log.isFailing(redisName) && !isOwnError(error))) stores.lacks(redisName, error)
    else if (isLock) stores.lacks(locks, error)
    else log.warn('worker of a queue', { queue, error })
  })
  worker.on('locksRenewed', stores.worked)
  worker.on('completed', stores.worked)
}

async function work<Q extends QueueName>(
  options: ConsumerOptions<Q> & { stores: StoreUser },
  job: Job,
  { token, signal }: { token: string | undefined; signal: AbortSignal },
): Promise<void> {
  const { queue, log, stores } = options
  const payload = catalog[queue].safeParse(job.data)
  if (!payload.success) {
    if (isNewerPayload(job.data)) {
      log.warn('a job of a newer version waits for a worker that knows it', { queue, job: job.id })
      throw await putOff(job, token)
    }
    log.error('a job that does not match the catalogue', { queue, job: job.id, error: payload.error })
    return
  }
  let answer: void | 'again' = undefined
  try {
    answer = await options.handler(payload.data, signal, job.stalledCounter)
    stores.worked()
  } catch (error) {
    if (signal.aborted) throw await putBack(job, token)
    if (!stores.failed(error)) log.error('a job failed', { queue, job: job.id, error })
    if (error instanceof AppError && (error.retry || error.code === 'RUN_005')) throw await putOff(job, token)
  }
  if (answer === 'again') throw await putOff(job, token)
}

/** Leaves a job to the next worker: one that was aborted, or that came from a fetch before a pause. */
async function putBack(job: Job, token: string | undefined): Promise<Error> {
  await job.moveToWait(token).catch(() => undefined)
  return new WaitingError()
}

async function putOff(job: Job, token: string | undefined): Promise<Error> {
  await job.moveToDelayed(Date.now() + putOffMs, token).catch(() => undefined)
  return new DelayedError()
}

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
