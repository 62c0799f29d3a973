import { Redis } from 'ioredis'
import { expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import { startTestRedis } from '#testing/redis.ts'
import { operationJobId } from '#store/queues/catalog.ts'
import { openConsumer } from '#store/queues/consumer.ts'
import { openProducer } from '#store/queues/producer.ts'
import { takeOver } from './discovery-service.ts'
import { silentLog } from '#platform/log.ts'

it('gives back at once what processes that are gone had taken, and it counts as no loss', async () => {
  const server = await startTestRedis() // its own: the queues of the shared one are not this example's to clear
  const redis = new Redis(server.url)
  const test = await testLedger()
  const [root, other] = [aPlannedOperation('root'), aPlannedOperation('other')]
  const runId = await test.executing([root, other])
  const [attempt] = await test.claimReady(runId)
  await takeOver(redis, test.ledger)
  expect(await test.ledger.getRun(runId)).toMatchObject({ counts: { ready: 2, running: 0 } })
  expect(await test.ledger.getOperation(runId, root.operationId)).toMatchObject({ status: 'ready', lost: 0 })
  expect(attempt && (await test.ledger.append(attempt, 1, { events: [] }))).toEqual({ kind: 'lost' })
  expect((await test.ledger.verify(runId)).violations).toEqual([])
  await test.close()
  redis.disconnect()
  await server.stop()
})

it('empties the queues, also of jobs a dead worker holds, and they take the same jobs again', async () => {
  const server = await startTestRedis()
  const redis = new Redis(server.url)
  const producer = openProducer({ redisUrl: server.url, log: silentLog })
  const operation = { runId: 'r00000000', operationId: 'o0123456789abcdef', dispatch: 1 }
  const id = operationJobId(operation)
  const payload = {
    run_id: operation.runId,
    operation_id: operation.operationId,
    dispatch: 1,
    traceparent: null,
  } as const
  await producer.add('operations', id, payload)
  await takeOver(redis, { activeRuns: async () => [], sweep: async () => ({ left: 0, takenBack: 0 }) })
  expect(await producer.missing('operations', [id])).toEqual([id])
  expect(await redis.keys('{remora}:operations:*')).toEqual([])
  await producer.add('operations', id, payload)
  const delivered: string[] = []
  const handler = async ({ operation_id: name }: { operation_id: string }) => void delivered.push(name)
  const consumer = openConsumer({ queue: 'operations', redisUrl: server.url, concurrency: 1, log: silentLog, handler })
  await until(() => delivered, { holds: ({ length }) => length === 1 })
  await consumer.close({ graceMs: 1_000 })
  await producer.close()
  redis.disconnect()
  await server.stop()
})
