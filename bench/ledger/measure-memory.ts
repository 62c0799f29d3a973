import { defaultProject, type RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import type { DispatchedOperation } from '#ledger/claim.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { openRetention } from '#ledger/retention.ts'
import { claimOne, complete, execute, inLanes, newRun, planAll, slicesOf } from './bench-run.ts'
import type { CurveLine, MemorySample } from './memory-curve.ts'
import { openBenchLedger } from './open-bench-ledger.ts'
import { playAttempt } from './played-attempt.ts'
import { dataBytes, settledBytes } from './redis-figures.ts'

const window = 256
const lanes = 64
/** Operations between two rounds of upkeep: results passed on, events archived, memory read. */
const upkeepEvery = 1_024

export type MemoryFigures = CurveLine & {
  events: number
  /** Events and bytes of JSON that left Redis for the archive. */
  archived: { events: number; bytes: number }
  wallMs: number
}

/**
 * Plays a whole run through the ledger, from plan to end, as one worker of many slots would, and reads Redis' memory on
 * the way. After the end: the outbox passed on and the rest of the events archived as far as they are, then the run
 * forgotten.
 */
export async function measureMemory(
  operations: readonly PlannedOperation[],
  options: { name: string; archive: boolean },
): Promise<MemoryFigures> {
  const bench = await openBenchLedger(options)
  const { ledger, redis, archived } = bench
  const started = performance.now()
  const samples: MemorySample[] = []
  const sample = async (phase: MemorySample['phase'], share: number) =>
    void samples.push({ phase, share, bytes: await dataBytes(redis) })
  try {
    const runId = await newRun(ledger)
    await planAll(ledger, runId, slicesOf(operations), (planned) => sample('plan', planned / operations.length))
    await execute(ledger, runId)
    await playAll(ledger, runId, operations.length, (ended) => sample('execution', ended / operations.length))
    await complete(ledger, runId)
    samples.push({ phase: 'after', share: 0.5, bytes: await settledBytes(redis) })
    const { seq } = await ledger.getRun(runId)
    await openRetention(redis).forgetRun({ projectId: defaultProject, runId })
    samples.push({ phase: 'after', share: 1, bytes: await settledBytes(redis) })
    return { name: options.name, samples, events: seq, archived, wallMs: performance.now() - started }
  } finally {
    await bench.close()
  }
}

async function playAll(
  ledger: Ledger,
  runId: RunId,
  total: number,
  sample: (ended: number) => Promise<void>,
): Promise<void> {
  let ended = 0
  let due = upkeepEvery
  while (ended < total) {
    const { taken } = await ledger.dispatch(runId, window)
    if (taken.length === 0) throw new Error(`nothing is ready after ${ended} operations`)
    await inLanes(taken, lanes, (job) => playOne(ledger, { runId, ...job }))
    ended += taken.length
    if (ended < due && ended < total) continue
    due = ended + upkeepEvery
    await ledger.relayResults(runId)
    while ((await ledger.archiveEvents(runId)) > 0);
    await sample(ended)
  }
}

async function playOne(ledger: Ledger, job: DispatchedOperation): Promise<void> {
  const attempt = await claimOne(ledger, job)
  const { appends, settlement } = playAttempt(attempt)
  for (const [at, events] of appends.entries()) await ledger.append(attempt, at + 1, events)
  const { kind } = await ledger.settle(attempt, appends.length + 1, settlement)
  if (kind !== 'settled') throw new Error(`a settle was answered ${kind}`)
}
