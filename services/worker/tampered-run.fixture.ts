import type { Operation } from '#domain/operation.ts'
import type { Run } from '#domain/run.ts'
import { runKeys, type RunKeys } from '#store/ledger/keys.ts'
import { openLog } from '#platform/log.ts'
import { openReleaser } from '#platform/service-process.ts'
import { openProducer, type Producer } from '#store/queues/producer.ts'
import { testRedis } from '#testing/redis.ts'
import { composedRun } from './composed-run.fixture.ts'
import { openOperationBench, type OperationBench } from '#stages/operate/operation-bench.fixture.ts'

/** An ended run that tests tamper with, one after the other. */
export type TamperedRun = {
  bench: OperationBench
  queues: Producer
  run: Run
  keys: RunKeys
  /** In plan order (composed-run.fixture.ts). */
  operations: Operation[]
  /** Replaces the content of an object. */
  overwrite(key: string, body: string): Promise<void>
  remove(key: string): Promise<void>
  /** Undoes all changes to Redis, the queues and the objects. */
  restore(): Promise<void>
  close(): Promise<void>
}

/** One run, worked on once, with its own Redis keys, queues and objects. */
export async function openTamperedRun(): Promise<TamperedRun> {
  const releaser = openReleaser()
  const bench = await openOperationBench()
  releaser.add('bench', bench.close)
  const server = await testRedis()
  releaser.add('redis', server.close)
  const prefix = `{${server.namespace}}`
  const log = openLog({ service: 'test', level: 'silent' })
  const queues = openProducer({ redisUrl: server.url, prefix, log })
  releaser.add('queues', queues.close)
  const runId = await composedRun(bench)
  const { operations } = await bench.ledger.listOperations(runId, { limit: 10 })
  const inRedis = await keepKeys(bench, [`*${bench.namespace}:*`, `${prefix}:*`])
  const inStore = keepObjects(bench)
  return {
    bench,
    queues,
    operations,
    run: await bench.ledger.getRun(runId),
    keys: runKeys(bench.namespace, runId),
    overwrite: inStore.overwrite,
    remove: inStore.remove,
    async restore() {
      await inRedis.restore()
      await inStore.restore()
    },
    close: releaser.release,
  }
}

async function keepKeys({ redis }: OperationBench, patterns: readonly string[]) {
  const found = async () => (await Promise.all(patterns.map((pattern) => redis.keys(pattern)))).flat()
  const kept = new Map<string, Buffer>()
  for (const key of await found()) kept.set(key, (await redis.dumpBuffer(key)) ?? Buffer.alloc(0))
  return {
    async restore() {
      for (const key of await found()) await redis.del(key)
      for (const [key, value] of kept) await redis.restore(key, 0, value)
    },
  }
}

function keepObjects({ deps: { objects } }: OperationBench) {
  const kept = new Map<string, Uint8Array>()
  return {
    async overwrite(key: string, body: string) {
      kept.set(key, await objects.get(key))
      await objects.put(key, body)
    },
    async remove(key: string) {
      kept.set(key, await objects.get(key))
      await objects.delete(key)
    },
    async restore() {
      for (const [key, body] of kept) await objects.put(key, body)
      kept.clear()
    },
  }
}
