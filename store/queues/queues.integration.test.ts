import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { type RecordedLog, recordedLog } from '#testing/recorded-log.ts'
import { testRedis, type TestRedis } from '#testing/redis.ts'
import { until } from '#testing/until.ts'
import { operationJobId, type PayloadOf } from './catalog.ts'
import { openConsumer, type Consumer, type ConsumerOptions } from './consumer.ts'
import { openProducer, type Producer } from './producer.ts'

type OperationPayload = PayloadOf<'operations'>

let server: TestRedis
let redis: Redis
let prefix = ''
let producer: Producer
let recorded: RecordedLog

beforeAll(async () => {
  server = await testRedis()
  redis = new Redis(server.url)
})
afterAll(async () => {
  await redis.quit()
  await server.close()
})
let round = 0
beforeEach(() => {
  recorded = recordedLog()
  round += 1
  prefix = `{${server.namespace}${round}}`
  producer = openProducer({ redisUrl: server.url, prefix, log: recorded.log })
  return () => producer.close()
})

const payload = (dispatch: number): OperationPayload => ({
  run_id: 'r00000000',
  traceparent: null,
  operation_id: aPlannedOperation('a').operationId,
  dispatch,
})
const jobId = (dispatch: number) =>
  operationJobId({ runId: 'r00000000', operationId: aPlannedOperation('a').operationId, dispatch })

function consume(
  handler: ConsumerOptions<'operations'>['handler'],
  over: Partial<ConsumerOptions<'operations'>> = {},
): Consumer {
  const { log } = recorded
  return openConsumer({ queue: 'operations', redisUrl: server.url, prefix, concurrency: 2, log, handler, ...over })
}

async function jobKeys(): Promise<string[]> {
  const keys = await redis.keys(`${prefix.replace('{', '\\{')}:operations:*`)
  return keys.filter((key) => key.includes('r00000000'))
}

describe('a queue', () => {
  it('delivers each dispatch once, however often it is added, and keeps nothing of it', async () => {
    const seen: number[] = []
    await producer.add('operations', jobId(1), payload(1))
    await producer.add('operations', jobId(1), payload(1))
    await producer.addMany(
      'operations',
      Array.from({ length: 1_100 }, (_, index) => ({ id: jobId(index + 2), payload: payload(index + 2) })),
    )
    const consumer = consume(async (job) => void seen.push(job.dispatch), { concurrency: 50 })
    await until(() => seen, { holds: ({ length }) => length >= 1_101 })
    await consumer.close({ graceMs: 5_000 })
    expect(new Set(seen).size).toBe(1_101)
    expect(seen).toHaveLength(1_101)
    expect(await jobKeys()).toEqual([])
  })

  it('gives a consumer that is to take none no job either that comes while it waits for one', async () => {
    const seen: string[] = []
    const first = consume(async ({ dispatch }) => void seen.push(`first ${dispatch}`))
    await producer.add('operations', jobId(1), payload(1))
    await until(() => seen, { holds: ({ length }) => length === 1 })
    const clients = async () => String(await redis.call('CLIENT', 'LIST'))
    await until(clients, { holds: (list) => list.includes('cmd=bzpopmin') })
    first.setConcurrency(0)
    await producer.add('operations', jobId(2), payload(2))
    const other = consume(async ({ dispatch }) => void seen.push(`other ${dispatch}`))
    await until(() => seen, { holds: ({ length }) => length === 2 })
    first.setConcurrency(2)
    await other.close({ graceMs: 1_000 })
    await producer.add('operations', jobId(3), payload(3))
    await until(() => seen, { holds: ({ length }) => length === 3 })
    expect(seen).toEqual(['first 1', 'other 2', 'first 3'])
    await first.close({ graceMs: 1_000 })
  })

  it('goes on after a handler that throws and a payload that is none, and delivers neither again', async () => {
    const seen: number[] = []
    await producer.add('operations', jobId(1), payload(1))
    await producer.add('operations', jobId(2), payload(0))
    await producer.add('operations', jobId(3), payload(3))
    const consumer = consume(async ({ dispatch }) => {
      seen.push(dispatch)
      if (dispatch === 1) throw new Error('broken')
    })
    await until(jobKeys, { holds: ({ length }) => length === 0 })
    await consumer.close({ graceMs: 1_000 })
    expect(new Set(seen)).toEqual(new Set([1, 3]))
    expect(seen).toHaveLength(2)
    expect(recorded.messages()).toHaveLength(2)
  })

  it('lets running jobs end within the grace when it is closed, and takes no more', async () => {
    const ended: number[] = []
    const gate = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    await producer.add('operations', jobId(1), payload(1))
    const consumer = consume(
      async ({ dispatch }) => {
        started.resolve()
        await gate.promise
        ended.push(dispatch)
      },
      { concurrency: 1 },
    )
    await started.promise
    await producer.add('operations', jobId(2), payload(2))
    const closing = consumer.close({ graceMs: 10_000 })
    gate.resolve()
    await closing
    expect(ended).toEqual([1])
    expect(await jobKeys()).toHaveLength(1)
  })

  it('aborts the signals of jobs that outlast the grace', async () => {
    const started = Promise.withResolvers<void>()
    let aborted = false
    await producer.add('operations', jobId(1), payload(1))
    const consumer = consume(async (_, signal) => {
      started.resolve()
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      aborted = true
    })
    await started.promise
    await consumer.close({ graceMs: 20 })
    expect(aborted).toBe(true)
  })

  it('leaves a job to the next consumer when its handler gives up for the abort', async () => {
    const started = Promise.withResolvers<void>()
    await producer.add('operations', jobId(1), payload(1))
    const first = consume(async (_, signal) => {
      started.resolve()
      await new Promise<void>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('cut off'))),
      )
    })
    await started.promise
    await first.close({ graceMs: 20 })

    const seen: number[] = []
    const second = consume(async ({ dispatch }) => void seen.push(dispatch))
    await until(jobKeys, { holds: ({ length }) => length === 0 })
    await second.close({ graceMs: 1_000 })
    expect(seen).toEqual([1])
  })

  it('delivers a job again after a rest when what it needs was out of reach', async () => {
    let deliveries = 0
    await producer.add('operations', jobId(1), payload(1))
    const consumer = consume(async () => {
      deliveries += 1
      if (deliveries === 1) throw new AppError('STORE_002', 'no objects for now')
    })
    await until(jobKeys, { holds: ({ length }) => length === 0 })
    await consumer.close({ graceMs: 1_000 })
    expect(deliveries).toBe(2)
  })

  it('aborts a job whose lock is lost, and delivers it again, saying so', async () => {
    const started = Promise.withResolvers<void>()
    let deliveries = 0
    let aborted = false
    const stalled: number[] = []
    await producer.add('operations', jobId(1), payload(1))
    const consumer = consume(
      async (_, signal, stalls) => {
        stalled.push(stalls)
        deliveries += 1
        if (deliveries > 1) return
        started.resolve()
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        aborted = true
      },
      { lockMs: 400 },
    )
    await started.promise
    await redis.del(`${prefix}:operations:${jobId(1)}:lock`)
    await until(() => [deliveries, aborted], { holds: ([count, isAborted]) => count === 2 && isAborted === true })
    await consumer.close({ graceMs: 1_000 })
    expect(stalled).toEqual([0, 1])
    expect(await jobKeys()).toEqual([])
  })
})
