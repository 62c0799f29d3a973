import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { RunId } from '#domain/ids.ts'
import { delay } from '#platform/clock.ts'
import type { Event } from '#domain/event.ts'
import { saveReport } from './reports/markdown-report.ts'
import { renderFairness, type SmallRun } from './reports/fairness-report.ts'
import { startFakeModel } from './model/start-fake-model.ts'
import { type BenchStack, openBenchStack } from './remora/bench-stack.ts'
import { startBenchWorker } from './remora/bench-worker.ts'
import { planRun, startRun } from './remora/plan-run.ts'

/**
 * `node bench/fairness-bench.ts`: how soon a run of 50 operations starts behind one of 100,000. Writes
 * results/fairness.md; with `--quick` it only prints, behind 5,000.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const slots = 8
const small = 50
const scale = quick ? { large: 5_000, rounds: 1 } : { large: 100_000, rounds: 3 }
/** The large run's nodes share this many files, since its planning is not measured. */
const largeFiles = 500
/** The small runs begin when this many operations of the large run have ended. */
const underWay = 100
const numbersPerRun = 10_000
const pollMs = 50

const endedOf = async ({ ledger }: BenchStack, runId: RunId) => {
  const { counts } = await ledger.getRun(runId)
  return counts.succeeded + counts.unchanged + counts.failed + counts.blocked
}

async function smallRuns(stack: BenchStack, first: number): Promise<SmallRun[]> {
  const runs: SmallRun[] = []
  for (let round = 0; round < scale.rounds; round++) {
    runs.push(await measureSmallRun(stack, first + round * numbersPerRun, small))
  }
  return runs
}

async function measure(stack: BenchStack) {
  await measureSmallRun(stack, 0, small) // warms the worker up
  const alone = await smallRuns(stack, 10 * numbersPerRun)
  const large = await planRun(stack, 20 * numbersPerRun, scale.large, largeFiles)
  await startRun(stack, large)
  while ((await endedOf(stack, large)) < underWay) await delay(pollMs)
  const before = await endedOf(stack, large)
  const behind = await smallRuns(stack, 30 * numbersPerRun)
  const after = await endedOf(stack, large)
  const faults = [...alone, ...behind].flatMap(({ succeeded }) =>
    succeeded === small ? [] : [`${succeeded} of ${small} operations of a small run succeeded`],
  )
  if (after >= scale.large) faults.push('the large run ended before the last small one')
  return { alone, behind, largeEnded: { before, after }, faults }
}

const endPollMs = 20
const limitMs = 300_000

/** Submits a run of `count` operations and waits until the last of them has ended. */
async function measureSmallRun(stack: BenchStack, first: number, count: number): Promise<SmallRun> {
  const runId = await planRun(stack, first, count)
  await startRun(stack, runId)
  const deadline = performance.now() + limitMs
  while ((await stack.ledger.getRun(runId)).phase === 'execution') {
    if (performance.now() > deadline) throw new Error(`run ${runId} did not end within ${limitMs} ms`)
    await delay(endPollMs)
  }
  const events = await eventsOf(stack, runId)
  const timesOf = (name: Event['event']) => events.filter(({ event }) => event === name).map(({ ts }) => ts)
  const readyAt = Math.max(...timesOf('run.planned'))
  const { counts } = await stack.ledger.getRun(runId)
  return {
    firstStartMs: Math.min(...timesOf('operation.started')) - readyAt,
    lastStartMs: Math.max(...timesOf('operation.started')) - readyAt,
    lastEndMs: Math.max(...timesOf('operation.ended')) - readyAt,
    succeeded: counts.succeeded,
  }
}

async function eventsOf({ ledger }: BenchStack, runId: RunId): Promise<Event[]> {
  const events: Event[] = []
  for (;;) {
    const page = await ledger.readEvents(runId, { after: events.at(-1)?.seq ?? 0, limit: 1000 })
    if (page.length === 0) return events
    events.push(...page)
  }
}

const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
const model = await startFakeModel({ latencyMs: { least: 0, most: 50 }, slots })
const stack = await openBenchStack(dir)
try {
  const worker = await startBenchWorker(stack, { modelUrl: model.url, slots })
  const figures = await measure(stack)
  await worker.stop()
  const text = renderFairness({ ...figures, slots, small, large: scale.large, redisVersion: stack.redisVersion })
  await saveReport('fairness', text, { quick })
  process.exitCode = figures.faults.length === 0 ? 0 : 1
} finally {
  await stack.close()
  await model.stop()
  await rm(dir, { recursive: true, force: true })
}
