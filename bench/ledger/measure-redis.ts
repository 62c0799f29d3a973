import { hash } from 'node:crypto'
import type { PlannedOperation } from '#domain/operation.ts'
import type { Attempt, DispatchedOperation } from '#store/ledger/attempt.ts'
import type { RunId } from '#domain/ids.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import {
  type BenchLedger,
  claimOne,
  execute,
  inLanes,
  newRun,
  openBenchLedger,
  planAll,
  redisWork,
  type RedisWork,
  scripts,
  settledBytes,
  slicesOf,
} from './bench-ledger.ts'
import { shortAppend, shortSettlement } from './played-run.ts'

/** What one command costs Redis, in ms; a dispatch counts per operation it takes. */
export type CommandFigures = Record<'dispatch' | 'claim' | 'append' | 'settle' | 'floor', RedisWork>

const lanes = 32
const dispatchSize = 100

/** Adds an entry and sets a hash's field: the least that any script does to record an event and an outcome. */
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
      inLanes(
        attempts,
        lanes,
        async (attempt) => void (await ledger.append(attempt, 1, { events: shortAppend(attempt) })),
      ),
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

/** The operations of a node, the second waiting for the first. */
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

/** The time until the last answer, the time in Redis alone, and the memory that stays allocated. */
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
 * The lower bound: one plain hash per operation with the same bytes, sent in the same slices, one pipeline each. It
 * does not detect a repeated slice, counts and sorts nothing, and knows no dependents.
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
