import type { RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { claimOne, execute, newRun, planAll, slicesOf } from './bench-run.ts'
import { openBenchLedger } from './open-bench-ledger.ts'
import { settledBytes } from './redis-figures.ts'

/**
 * What an operation that waits for a person adds to Redis, in bytes: `state` over one that is ready (hash, set, question),
 * `events` what its events take, from its dispatch on, until they are archived.
 */
export type WaitingFigures = { operations: number; state: number; events: number }

const question = {
  text: 'round_half_up is called from 14 places with ints. Shall I change its signature to take Decimal only?',
  choices: ['yes', 'no, keep accepting ints', 'only in this file'],
}
const day = 86_400_000
const recordHash = 'f'.repeat(64)
const spent = { turns: 3, promptTokens: 4_000, completionTokens: 300, durationMs: 9_000 }

/** Suspends every one of `operations`, none of which waits for another, in an empty Redis. */
export async function measureWaiting(operations: readonly PlannedOperation[]): Promise<WaitingFigures> {
  const bench = await openBenchLedger({ archive: false })
  const { ledger, redis } = bench
  try {
    const runId = await newRun(ledger)
    await planAll(ledger, runId, slicesOf(operations.map((one) => ({ ...one, after: [] }))))
    await execute(ledger, runId)
    // With the first one come the scripts, which Redis keeps.
    await suspendReady(ledger, runId, 1)
    const before = await settledBytes(redis)
    await suspendReady(ledger, runId, operations.length)
    const { status } = await ledger.getRun(runId)
    if (status !== 'waiting') throw new Error(`the run is ${status}`)
    const all = await settledBytes(redis)
    await redis.xtrim(`remora:{${runId}}:events`, 'MAXLEN', 0)
    const state = await settledBytes(redis)
    const count = operations.length - 1
    const each = (bytes: number) => bytes / count
    return { operations: count, state: each(state - before), events: each(all - state) }
  } finally {
    await bench.close()
  }
}

async function suspendReady(ledger: Ledger, runId: RunId, max: number): Promise<void> {
  const { taken } = await ledger.dispatch(runId, max)
  const attempts: Attempt[] = []
  for (const job of taken) attempts.push(await claimOne(ledger, { runId, ...job }))
  for (const attempt of attempts) {
    const { kind } = await ledger.suspend(attempt, 1, { question, answerWithinMs: day, recordHash, spent, events: [] })
    if (kind !== 'suspended') throw new Error(`a suspend was answered ${kind}`)
  }
  // The last dispatch's answer, which the ledger keeps, is small again.
  await ledger.dispatch(runId, 0)
}
