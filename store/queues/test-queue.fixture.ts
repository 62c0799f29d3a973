import { connectRedis, type RedisClient } from '#platform/redis-client.ts'
import { aPlannedOperation } from '#testing/open-test-ledger.ts'
import { recordedLog } from '#testing/recorded-log.ts'
import { testRedis } from '#testing/redis.ts'
import { operationJobId, type PayloadOf } from './catalog.ts'
import { openConsumer, type Consumer, type ConsumerOptions } from './consumer.ts'
import { openProducer, type Producer } from './producer.ts'
import { type Log, silentLog } from '#platform/log.ts'

const { operationId } = aPlannedOperation('a')

export function aPayload(dispatch: number): PayloadOf<'operations'> {
  return { run_id: 'r00000000', traceparent: null, operation_id: operationId, dispatch }
}

export function aJobId(dispatch: number): string {
  return operationJobId({ runId: 'r00000000', operationId, dispatch })
}

export type TestQueue = {
  redis: RedisClient
  producer: Producer
  /** The full name of one of the queue's keys. */
  key(name: string): string
  /** Messages of the producer's and the consumers' logs. */
  logged(): string[]
  log: Log
  add(...dispatches: number[]): Promise<void>
  consume(handler: ConsumerOptions<'operations'>['handler'], over?: Partial<ConsumerOptions<'operations'>>): Consumer
  /** Deletes every key of the queue, on a single server. */
  wipe(): Promise<void>
  close(): Promise<void>
}

/** The queue `operations` under a prefix of its own, on the server at `url` or the suite's. Closes its consumers. */
export async function openTestQueue(url?: string): Promise<TestQueue> {
  const server = await testRedis()
  const redisUrl = url ?? server.url
  const { redis } = connectRedis(redisUrl, { retries: 20 }, silentLog)
  const prefix = `{${server.namespace}}`
  const { log, messages } = recordedLog()
  const producer = openProducer({ redisUrl, prefix, log })
  const consumers: Consumer[] = []
  const key = (name: string) => `${prefix}:operations:${name}`
  return {
    redis,
    producer,
    key,
    logged: messages,
    log,
    add: (...dispatches) =>
      producer.addMany(
        'operations',
        dispatches.map((dispatch) => ({ id: aJobId(dispatch), payload: aPayload(dispatch) })),
      ),
    consume(handler, over = {}) {
      const consumer = openConsumer({ queue: 'operations', redisUrl, prefix, concurrency: 2, log, handler, ...over })
      consumers.push(consumer)
      return consumer
    },
    async wipe() {
      const keys = await redis.keys(key('*'))
      if (keys.length > 0) await redis.del(keys)
    },
    async close() {
      await Promise.all(consumers.map((consumer) => consumer.close({ graceMs: 1_000 })))
      await producer.close()
      redis.disconnect()
      await server.close()
    },
  }
}
