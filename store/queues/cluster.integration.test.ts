import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newToken, type RunId } from '#domain/ids.ts'
import { openLedger, type Ledger } from '#store/ledger/ledger.ts'
import { openStopSignals, type StopSignals } from '#store/ledger/stop-signals.ts'
import { connectRedis, type RedisConnection } from '#platform/redis-client.ts'
import { anEvent, anOutcome, aPlannedOperation, executing } from '#testing/open-test-ledger.ts'
import { recordedLog } from '#testing/recorded-log.ts'
import { startRedisCluster, type TestRedisCluster } from '#testing/redis-cluster.ts'
import { until } from '#testing/until.ts'
import { operationJobId, type PayloadOf } from './catalog.ts'
import { openConsumer, type Consumer } from './consumer.ts'
import { openProducer, type Producer } from './producer.ts'

const runs = 24
const root = aPlannedOperation('root')
const plan = [root, aPlannedOperation('child', {}, [root]), aPlannedOperation('other')]

let cluster: TestRedisCluster
let connection: RedisConnection
let ledger: Ledger
let stops: StopSignals
let producer: Producer
const { log, entries: warnings } = recordedLog()

beforeAll(async () => {
  cluster = await startRedisCluster()
  const redisUrl = cluster.url
  connection = connectRedis(redisUrl, { retries: 20 }, log)
  ledger = openLedger(connection.redis)
  stops = openStopSignals({ redisUrl, log })
  producer = openProducer({ redisUrl, log })
})
afterAll(async () => {
  await producer.close()
  stops.close()
  connection.redis.disconnect()
  await cluster.stop()
})

/** Enqueues the ready operations, as the dispatcher does; returns the job ids. */
async function enqueueReady(runId: RunId): Promise<string[]> {
  const { taken } = await ledger.dispatch(runId, 10)
  const jobs = taken.map(({ operationId, dispatch }) => ({
    id: operationJobId({ runId, operationId, dispatch }),
    payload: { run_id: runId, traceparent: null, operation_id: operationId, dispatch } as const,
  }))
  await producer.addMany('operations', jobs)
  return jobs.map(({ id }) => id)
}

async function work({ run_id: runId, operation_id: operationId, dispatch }: PayloadOf<'operations'>): Promise<void> {
  const answer = await ledger.claim({ runId, operationId, dispatch }, newToken())
  if (answer.kind !== 'claimed') return
  await ledger.append(answer.attempt, 1, { events: [anEvent()] })
  await ledger.settle(answer.attempt, 2, { outcome: anOutcome(), events: [anEvent()] })
  await enqueueReady(runId)
}

function openWorker(): Consumer {
  return openConsumer({ queue: 'operations', redisUrl: cluster.url, concurrency: 4, log, handler: work })
}

async function nodesWith(pattern: string): Promise<number> {
  let nodes = 0
  for (const url of cluster.nodeUrls) {
    const node = new Redis(url)
    if ((await node.keys(pattern)).length > 0) nodes += 1
    node.disconnect()
  }
  return nodes
}

describe('a cluster of three', () => {
  it('takes many runs through the ledger and the queues, each on a node of its own', async () => {
    const workers = [openWorker(), openWorker()]
    const ids: RunId[] = []
    for (let index = 0; index < runs; index += 1) ids.push(await executing(ledger, plan))
    expect(await nodesWith('remora:{r*}:run')).toBe(3)
    expect(await ledger.activeRuns()).toHaveLength(runs)

    for (const runId of ids) await enqueueReady(runId)
    for (const runId of ids) {
      await until(() => ledger.getRun(runId), { holds: ({ phase }) => phase === 'review', withinMs: 20_000 })
    }
    for (const worker of workers) await worker.close({ graceMs: 5_000 })
    for (const runId of ids) {
      expect(await ledger.relayResults(runId)).toBe(plan.length)
      expect(await ledger.verify(runId)).toMatchObject({ violations: [], operations: plan.length })
    }
    expect(await connection.redis.xlen('remora:results')).toBe(runs * plan.length)
    expect(warnings).toEqual([])
  })

  it('tells every worker about a cancelled run, whichever node it lies on', async () => {
    const ids: RunId[] = []
    for (let index = 0; index < 8; index += 1) ids.push(await executing(ledger, plan))
    const heard: RunId[] = []
    for (const runId of ids) stops.on(runId, () => void heard.push(runId))
    for (const runId of ids) {
      expect(await ledger.cancel(runId, { reason: 'not wanted', origin: { kind: 'human', id: 'me' } })).toBe('stopping')
      expect(await ledger.endSlice(runId, 0)).toEqual({ next: undefined, open: 0 })
      expect(await ledger.relayResults(runId)).toBe(plan.length)
      expect((await ledger.verify(runId)).violations).toEqual([])
    }
    await until(() => heard, { holds: ({ length }) => length >= ids.length })
    expect(heard.toSorted()).toEqual(ids.toSorted())
  })
})
