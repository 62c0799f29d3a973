import { hash } from 'node:crypto'
import type { PlannedOperation } from '#domain/operation.ts'
import type { Attempt, DispatchedOperation } from '#ledger/claim.ts'
import { claimOne, execute, inLanes, newRun, planAll, slicesOf } from './bench-run.ts'
import { openBenchLedger, type BenchLedger } from './open-bench-ledger.ts'
import { shortAppend, shortSettlement } from './played-attempt.ts'
import { redisWork, scripts, type RedisWork } from './redis-figures.ts'

/** What one command costs Redis, in ms; a dispatch counts per operation it takes. */
export type CommandFigures = Record<'dispatch' | 'claim' | 'append' | 'settle' | 'floor', RedisWork>

const lanes = 32
const dispatchSize = 100

/** Adds an entry and sets a hash's field: what any script that notes an event and an outcome does at the least. */
const floorScript = `redis.call('XADD', KEYS[1], '*', 'j', ARGV[1]) redis.call('HSET', KEYS[2], 'outcome', ARGV[2]) return 'OK'`

/**
 * A run of `pairs` operations, each with one that waits for it, through the ledger, command by command: all are
 * dispatched, then all claimed, and so on. An append brings three events; a settle three, to which it adds its own, and makes
 * one dependent ready.
 */
export async function measureCommands(pairs: readonly PlannedOperation[]): Promise<CommandFigures> {
  const bench = await openBenchLedger({ archive: false })
  const { ledger, redis } = bench
  try {
    const runId = await newRun(ledger)
    await planAll(ledger, runId, slicesOf(pairs))
    await execute(ledger, runId)
    const jobs: DispatchedOperation[] = []
    const attempts: Attempt[] = []
    const perCall = async (items: readonly unknown[], work: () => Promise<void>): Promise<RedisWork> => {
      const { commandMs, cpuMs } = await redisWork(redis, scripts, work)
      return { commandMs: commandMs / items.length, cpuMs: cpuMs / items.length }
    }
    const waiting = pairs.filter(({ after }) => after.length === 0)
    const dispatch = await perCall(waiting, async () => {
      while (jobs.length < waiting.length) {
        const { taken } = await ledger.dispatch(runId, Math.min(dispatchSize, waiting.length - jobs.length))
        jobs.push(...taken.map((job) => ({ runId, ...job })))
      }
    })
    const claim = await perCall(jobs, () =>
      inLanes(jobs, lanes, async (job) => void attempts.push(await claimOne(ledger, job))),
    )
    const append = await perCall(attempts, () =>
      inLanes(attempts, lanes, async (attempt) => void (await ledger.append(attempt, 1, shortAppend(attempt)))),
    )
    const settle = await perCall(attempts, () =>
      inLanes(attempts, lanes, async (attempt) => {
        const { kind } = await ledger.settle(attempt, 2, shortSettlement(attempt))
        if (kind !== 'settled') throw new Error(`a settle was answered ${kind}`)
      }),
    )
    const { counts } = await ledger.getRun(runId)
    if (counts.succeeded !== waiting.length || counts.ready !== pairs.length - waiting.length)
      throw new Error('not every settle made its dependent ready')
    await redis.script('LOAD', floorScript)
    return { dispatch, claim, append, settle, floor: await perCall(attempts, () => runFloor(bench, attempts)) }
  } finally {
    await bench.close()
  }
}

async function runFloor({ redis }: BenchLedger, attempts: readonly Attempt[]): Promise<void> {
  const sha = hash('sha1', floorScript, 'hex')
  await inLanes(attempts, lanes, async (attempt) => {
    const { events, outcome, result } = shortSettlement(attempt)
    const [entry, noted] = [JSON.stringify(events), JSON.stringify({ outcome, result })]
    await redis.evalsha(sha, 2, 'floor:events', `floor:op:${attempt.operationId}`, entry, noted)
  })
}

/** Operation after operation of a node, the second waiting for the first. */
export function pairsOf(operations: readonly PlannedOperation[]): PlannedOperation[] {
  const first = operations.filter(({ bundle }) => bundle === 'docstring')
  const second = new Map(
    operations.filter(({ bundle }) => bundle === 'lint').map((operation) => [operation.node.nodeId, operation]),
  )
  return first.flatMap((operation) => {
    const next = second.get(operation.node.nodeId)
    return next === undefined
      ? []
      : [
          { ...operation, after: [] },
          { ...next, after: [operation.operationId] },
        ]
  })
}
