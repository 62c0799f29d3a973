import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { delay } from '#platform/clock.ts'
import { startFakeModel } from './model/start-fake-model.ts'
import { type BenchStack, openBenchStack } from './remora/bench-stack.ts'
import { type BenchWorker, startBenchWorker } from './remora/bench-worker.ts'
import { planRun, startRun } from './remora/plan-run.ts'
import { threadTimes } from './remora/process-cpu.ts'
import { type CountingProxy, openCountingProxy } from './remora/profile-run.ts'
import { settledRun } from './remora/settled-run.ts'
import { type Composed, type CompositionFigures, renderComposition } from './reports/composition-report.ts'
import { saveReport } from './reports/markdown-report.ts'

/**
 * `node bench/composition-bench.ts`: what the composition of a run costs alone, beside a busy run on the same worker, and
 * with change sets that break their files. Writes results/composition.md; with `--quick` it only prints, of fewer
 * operations.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const slots = 64
const perFile = 5
const scale = quick ? { operations: 200, culprits: 5, rounds: 1 } : { operations: 2_000, culprits: 50, rounds: 3 }
/** Of the run beside it: far more than are done meanwhile. Its nodes share files, since its planning is not measured. */
const busy = { operations: 40_000, files: 500 }
/** A composition beside it begins when this many of its operations have ended. */
const underWay = 200
const numbersPerRun = 1_000_000
const pollMs = 20
/** As composer.ts names it. */
const thread = 'the composer'

type Parts = { stack: BenchStack; worker: BenchWorker; proxy: CountingProxy }

/** Composes a run of its own, whose operations ended without a worker. */
async function measureOne({ stack, worker, proxy }: Parts, number: number, culprits: number): Promise<Composed> {
  const { operations } = scale
  const runId = await settledRun(stack, { first: number * numbersPerRun, operations, perFile, culprits })
  proxy.takeCounts()
  const before = threadTimes(worker.pid, thread)
  const startedAt = performance.now()
  stack.allowComposition(runId)
  let run = await stack.ledger.getRun(runId)
  for (; run.status === 'running'; run = await stack.ledger.getRun(runId)) await delay(pollMs)
  const ms = performance.now() - startedAt
  const after = threadTimes(worker.pid, thread)
  const own = { ranMs: after.ranMs - before.ranMs, waitedMs: after.waitedMs - before.waitedMs }
  return { status: run.status, ms, ...own, requests: proxy.takeCounts() }
}

async function measureRounds(parts: Parts, first: number): Promise<Composed[]> {
  const rounds: Composed[] = []
  for (let round = 0; round < scale.rounds; round++) rounds.push(await measureOne(parts, first + round, 0))
  return rounds
}

async function endedOf({ ledger }: BenchStack, runId: string): Promise<number> {
  return (await ledger.getRun(runId)).counts.succeeded
}

async function measure(parts: Parts): Promise<Omit<CompositionFigures, 'redisVersion'>> {
  const { stack } = parts
  await measureOne(parts, 0, 0) // starts the thread and warms it up
  const alone = await measureRounds(parts, 10)
  const broken = await measureOne(parts, 20, scale.culprits)
  const large = await planRun(stack, { first: 30 * numbersPerRun, count: busy.operations, files: busy.files })
  await startRun(stack, large)
  while ((await endedOf(stack, large)) < underWay) await delay(pollMs)
  const [startedAt, endedBefore] = [performance.now(), await endedOf(stack, large)]
  const beside = await measureRounds(parts, 40)
  const ended = await endedOf(stack, large)
  const perSecond = ((ended - endedBefore) * 1_000) / (performance.now() - startedAt)
  await stack.ledger.cancel(large, { reason: 'measured', origin: { kind: 'api', id: 'bench' } })
  const faults = [...alone, broken, ...beside].flatMap(({ status }) =>
    status === 'completed' ? [] : [`a run ${status}`],
  )
  if (ended >= busy.operations) faults.push('the busy run ended before the last composition')
  return { ...scale, files: Math.ceil(scale.operations / perFile), slots, alone, broken, beside, perSecond, faults }
}

const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
const model = await startFakeModel({ latencyMs: { least: 0, most: 50 }, slots })
const stack = await openBenchStack(dir)
const proxy = await openCountingProxy(stack.s3.endpoint)
try {
  const worker = await startBenchWorker(stack, { modelUrl: model.url, slots, s3Endpoint: proxy.url })
  const figures = await measure({ stack, worker, proxy })
  await worker.stop()
  await saveReport('composition', renderComposition({ ...figures, redisVersion: stack.redisVersion }), { quick })
  process.exitCode = figures.faults.length === 0 ? 0 : 1
} finally {
  proxy.close()
  await stack.close()
  await model.stop()
  await rm(dir, { recursive: true, force: true })
}
