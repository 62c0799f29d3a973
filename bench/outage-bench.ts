import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { RunId } from '#domain/ids.ts'
import { delay } from '#platform/clock.ts'
import { startOutageModel, type Outage } from './model/outage-model.ts'
import { type BenchStack, openBenchStack } from './remora/bench-stack.ts'
import { startBenchWorker } from './remora/bench-worker.ts'
import { planRun, startRun } from './remora/plan-run.ts'
import { processCpu } from './remora/process-cpu.ts'
import { saveReport } from './reports/markdown-report.ts'
import { type OutageFigures, renderOutages } from './reports/outage-report.ts'

/**
 * `node bench/outage-bench.ts`: a run of 20,000 operations whose only model server is away for ten minutes, and smaller ones
 * for three. Writes results/outage.md; with `--quick` it only prints, with short outages.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const slots = 64
const meanwhile = 50
const latencyMs = 20
const largeFiles = 500
const numbersPerRun = 100_000
const pollMs = 100
const [longS, shortS] = quick ? [45, 50] : [600, 180]
const outages: readonly { how: Outage; awayS: number; operations: number }[] = [
  { how: 'refused', awayS: longS, operations: quick ? 2_000 : 20_000 },
  { how: '503', awayS: shortS, operations: 2_000 },
  { how: 'hang', awayS: shortS, operations: 2_000 },
]

type Model = Awaited<ReturnType<typeof startOutageModel>>
type Parts = { stack: BenchStack; model: Model; workerPid: number }

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(pollMs)
}

const seconds = (from: number) => (performance.now() - from) / 1000

async function measure(parts: Parts, first: number, outage: (typeof outages)[number]): Promise<OutageFigures> {
  const { stack, model, workerPid } = parts
  const { how, awayS, operations } = outage
  const run = (runId: RunId) => stack.ledger.getRun(runId)
  const large = await planRun(stack, { first, count: operations, files: Math.min(operations, largeFiles) })
  await startRun(stack, large)
  await until(async () => (await run(large)).counts.succeeded > operations / 20)
  await model.goAway(how)
  const awayAt = performance.now()
  const small = await planRun(stack, { first: first + numbersPerRun / 2, count: meanwhile })
  await startRun(stack, small)
  const wait = async () => (await run(large)).status === 'waiting' && (await run(small)).status === 'waiting'
  await until(async () => seconds(awayAt) > awayS || (await wait()))
  const [waitingAfterS, waitingAt, before] = [seconds(awayAt), performance.now(), processCpu(workerPid).own]
  const ownBefore = process.cpuUsage()
  await delay(Math.max(0, awayAt + awayS * 1000 - performance.now()))
  const own = process.cpuUsage(ownBefore)
  const quietMs = Math.max(1, performance.now() - waitingAt)
  const workerCpu = (processCpu(workerPid).own - before) / quietMs
  await model.comeBack()
  const backAt = performance.now()
  await until(async () => model.firstRequestAt() !== undefined)
  const firstRequestS = ((model.firstRequestAt() ?? Infinity) - backAt) / 1000
  await until(async () => (await run(large)).phase === 'review' && (await run(small)).phase === 'review')
  return {
    how,
    operations,
    awayS,
    failed: operations - (await run(large)).counts.succeeded,
    failedMeanwhile: meanwhile - (await run(small)).counts.succeeded,
    waitingAfterS,
    firstRequestS,
    workerCpu,
    dispatcherCpu: (own.user + own.system) / 1000 / quietMs,
    handedBack: await handedBack(stack, large),
  }
}

async function handedBack({ ledger }: BenchStack, runId: RunId): Promise<number> {
  let [found, after] = [0, 0]
  for (;;) {
    const page = await ledger.readEvents(runId, { after, limit: 1000 })
    const last = page.at(-1)
    if (last === undefined) return found
    found += page.filter(({ event }) => event === 'operation.retried').length
    after = last.seq
  }
}

const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
const model = await startOutageModel({ latencyMs })
const stack = await openBenchStack(dir)
try {
  const worker = await startBenchWorker(stack, { modelUrl: model.url, slots })
  const rows: OutageFigures[] = []
  for (const [at, outage] of outages.entries()) {
    const row = await measure({ stack, model, workerPid: worker.pid }, (at + 1) * numbersPerRun, outage)
    console.log(JSON.stringify(row))
    rows.push(row)
  }
  await worker.stop()
  await saveReport('outage', renderOutages(rows, { redisVersion: stack.redisVersion, slots }), { quick })
  process.exitCode = rows.every(({ failed, failedMeanwhile }) => failed + failedMeanwhile === 0) ? 0 : 1
} finally {
  await stack.close()
  await model.stop()
  await rm(dir, { recursive: true, force: true })
}
