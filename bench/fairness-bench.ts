import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { RunId } from '#domain/ids.ts'
import { delay } from '#platform/clock.ts'
import type { Event } from '#domain/event.ts'
import { saveReport } from './reports/markdown-report.ts'
import { type FairnessFigures, renderFairness, type SmallRun } from './reports/fairness-report.ts'
import { startFakeModel } from './model/start-fake-model.ts'
import { type BenchStack, openBenchStack } from './remora/bench-stack.ts'
import { startBenchWorker } from './remora/bench-worker.ts'
import { planRun, type PlannedRun, startRun } from './remora/plan-run.ts'

/**
 * `node bench/fairness-bench.ts`: how soon a run of 50 operations starts and ends behind one that has the workers to itself,
 * with models of 0, 0.5 and 5 s per turn. Writes results/fairness.md; with `--quick` it only prints, for 0 s.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const slots = 16
const small = 50
/** The large run never ends before the small ones do; its planning is not measured. */
const scale = quick
  ? [{ latencyMs: 0, large: 5_000, rounds: 1 }]
  : [
      { latencyMs: 0, large: 20_000, rounds: 3 },
      { latencyMs: 500, large: 5_000, rounds: 3 },
      { latencyMs: 5_000, large: 2_000, rounds: 2 },
    ]
type Scale = (typeof scale)[number]
/** The large run's nodes share this many files. */
const largeFiles = 500
/** The small runs begin when this many operations of the large run have ended. */
const underWay = 2 * slots
const numbersPerRun = 10_000
const pollMs = 50

const endedOf = async ({ ledger }: BenchStack, runId: RunId) => {
  const { counts } = await ledger.getRun(runId)
  return counts.succeeded + counts.unchanged + counts.failed + counts.blocked
}

async function smallRuns(stack: BenchStack, first: number, rounds: number, priority?: number): Promise<SmallRun[]> {
  const runs: SmallRun[] = []
  for (let round = 0; round < rounds; round++) {
    runs.push(await measureSmallRun(stack, { first: first + round * numbersPerRun, count: small, priority }))
  }
  return runs
}

async function measure(stack: BenchStack, { latencyMs, large, rounds }: Scale): Promise<FairnessFigures> {
  const alone = await smallRuns(stack, 10 * numbersPerRun, latencyMs < 5_000 ? rounds : 1)
  const largeRun = await planRun(stack, { first: 20 * numbersPerRun, count: large, files: largeFiles })
  await startRun(stack, largeRun)
  while ((await endedOf(stack, largeRun)) < underWay) await delay(pollMs)
  const behind = await smallRuns(stack, 30 * numbersPerRun, rounds)
  const first = await smallRuns(stack, 50 * numbersPerRun, 1, 0)
  const { other, beside } = await besideAnother(stack, latencyMs)
  const after = await endedOf(stack, largeRun)
  const faults = [...alone, ...behind, ...first, other, ...beside].flatMap(({ succeeded }) =>
    succeeded === small ? [] : [`${succeeded} of ${small} operations of a small run succeeded`],
  )
  if (after >= large) faults.push('the large run ended before the last small one')
  return { latencyMs, large, alone, behind, first, beside, faults }
}

/** A run with priority 0 that begins soon after another small one. */
async function besideAnother(stack: BenchStack, latencyMs: number) {
  const ending = measureSmallRun(stack, { first: 70 * numbersPerRun, count: small })
  await delay(latencyMs + pollMs)
  const beside = await smallRuns(stack, 80 * numbersPerRun, 1, 0)
  return { other: await ending, beside }
}

/** With a stack of its own, so that no large run is left to share it with. */
async function measureAt(one: Scale): Promise<{ figures: FairnessFigures; redisVersion: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
  const model = await startFakeModel({ latencyMs: { least: one.latencyMs, most: one.latencyMs }, slots })
  const stack = await openBenchStack(dir)
  try {
    const env = { REMORA_MODEL_MAX_IN_FLIGHT: String(slots) }
    const worker = await startBenchWorker(stack, { modelUrl: model.url, slots, env })
    await measureSmallRun(stack, { first: 0, count: slots }) // warms the worker up
    const figures = await measure(stack, one)
    await worker.stop()
    return { figures, redisVersion: stack.redisVersion }
  } finally {
    await stack.close()
    await model.stop()
    await rm(dir, { recursive: true, force: true })
  }
}

const endPollMs = 20
const limitMs = 900_000

/** Submits a run of `count` operations and waits until the last of them has ended. */
async function measureSmallRun(stack: BenchStack, plan: PlannedRun): Promise<SmallRun> {
  const runId = await planRun(stack, plan)
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
    firstReplyMs: Math.min(...timesOf('model.responded')) - readyAt,
    firstStartMs: Math.min(...timesOf('operation.started')) - readyAt,
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

const measured = []
for (const one of scale) measured.push(await measureAt(one))
const figures = measured.map((one) => one.figures)
const redisVersion = measured[0]?.redisVersion ?? 'unknown'
await saveReport('fairness', renderFairness(figures, { slots, small, redisVersion }), { quick })
process.exitCode = figures.every(({ faults }) => faults.length === 0) ? 0 : 1
