import type { PlannedOperation } from '#domain/operation.ts'
import { newRun, planAll, slicesOf } from './bench-run.ts'
import { openBenchLedger } from './open-bench-ledger.ts'
import { redisWork, scripts, settledBytes, type RedisWork } from './redis-figures.ts'

/** What it took until the last answer, in Redis alone, and what stays in memory. */
export type PlanFigures = RedisWork & { wallMs: number; bytesPerOperation: number }

/** Plans a whole run through the ledger, in an empty Redis. */
export async function measurePlan(operations: readonly PlannedOperation[]): Promise<PlanFigures> {
  const bench = await openBenchLedger({ archive: false })
  const { ledger, redis } = bench
  try {
    const runId = await newRun(ledger)
    const before = await settledBytes(redis)
    const slices = slicesOf(operations)
    const started = performance.now()
    let wallMs = 0
    const spent = await redisWork(redis, scripts, async () => {
      await planAll(ledger, runId, slices)
      wallMs = performance.now() - started
    })
    return { wallMs, ...spent, bytesPerOperation: ((await settledBytes(redis)) - before) / operations.length }
  } finally {
    await bench.close()
  }
}

/**
 * The floor: one plain hash an operation with the same bytes, sent in the same slices, one pipeline each. It answers no
 * repeated slice, counts nothing, sorts nothing and knows no dependents.
 */
export async function measurePlainHashes(operations: readonly PlannedOperation[]): Promise<PlanFigures> {
  const bench = await openBenchLedger({ archive: false })
  const { redis } = bench
  try {
    const before = await settledBytes(redis)
    const slices = slicesOf(operations)
    const started = performance.now()
    let wallMs = 0
    const spent = await redisWork(redis, ['hset'], async () => {
      for (const slice of slices) await sendHashes(redis, slice)
      wallMs = performance.now() - started
    })
    return { wallMs, ...spent, bytesPerOperation: ((await settledBytes(redis)) - before) / operations.length }
  } finally {
    await bench.close()
  }
}

type BenchRedis = Awaited<ReturnType<typeof openBenchLedger>>['redis']

async function sendHashes(redis: BenchRedis, slice: readonly PlannedOperation[]): Promise<void> {
  const pipeline = redis.pipeline()
  for (const { operationId, bundle, bundleHash, node, priority, after } of slice) {
    const own = { status: 'pending', bundle, hash: bundleHash, nid: node.nodeId, rank: String(priority) }
    pipeline.hset(`floor:op:${operationId}`, { ...own, node: JSON.stringify(node), after: after.join(' ') })
  }
  const answers = await pipeline.exec()
  if (answers?.some(([error]) => error !== null) !== false) throw new Error('the floor was not written')
}
