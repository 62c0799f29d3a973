import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { RunId } from '#domain/ids.ts'
import { delay } from '#platform/clock.ts'
import { memoryOfTree } from '../tests/living-processes.ts'
import { lastingFlags, leanMemory } from '#platform/lean-memory.mjs'
import { heldShare } from './model/load-meter.ts'
import { startFakeModel, type FakeModel } from './model/start-fake-model.ts'
import { openBenchStack, type BenchStack } from './remora/bench-stack.ts'
import { startBenchWorkers, type BenchWorker, type WorkerOptions } from './remora/bench-worker.ts'
import { planRun, startRun } from './remora/plan-run.ts'
import { saveReport } from './reports/markdown-report.ts'
import { renderWorkers, type ProjectShare, type WorkersFigures } from './reports/workers-report.ts'

/**
 * `node bench/workers-bench.ts`: many workers of few slots before one slow model: their memory, how busy they keep the model,
 * and how equally five projects share it. Writes results/workers.md; with `--quick`, a smoke test, it only prints.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const latencyMs = 500
const slots = 4
/** `limit`: requests that the model takes at once, of all workers together. `windowMs` is measured, after `warmMs`. */
const scale = quick
  ? { workers: 4, limit: 8, operations: 40, warmMs: 2_000, windowMs: 10_000 }
  : { workers: 50, limit: 32, operations: 220, warmMs: 5_000, windowMs: 30_000 }
const projects = ['alpha', 'omega', 'gamma', 'delta', 'epsilon']
/** What a worker is taken to need, and what others on the machine keep. */
const [mbPerWorker, mbKept] = [220, 6_000]
const startedAtOnce = 10
/** So many operations for each worker come first: its first one compiles Ruff, which takes seconds where CPUs are scarce. */
const warmOperations = 4
const numbersPerRun = 10_000
const pollMs = 200

async function startAll(stack: BenchStack, options: WorkerOptions): Promise<BenchWorker[]> {
  const [first] = await startBenchWorkers(stack, options, 1)
  await first?.stop() // when it ends, Node stores the code that it has compiled
  const count = Math.max(1, Math.min(scale.workers, Math.floor((availableMb() - mbKept) / mbPerWorker)))
  const workers: BenchWorker[] = []
  while (workers.length < count) {
    const batch = await startBenchWorkers(stack, options, Math.min(startedAtOnce, count - workers.length))
    workers.push(...batch)
  }
  return workers
}

const endedOf = async ({ ledger }: BenchStack, runId: RunId) => (await ledger.getRun(runId)).counts.succeeded

async function untilAll(stack: BenchStack, runs: readonly RunId[], isReached: (run: Run) => boolean): Promise<void> {
  for (const runId of runs) while (!isReached(await stack.ledger.getRun(runId))) await delay(pollMs)
}
type Run = Awaited<ReturnType<BenchStack['ledger']['getRun']>>

async function measureShares(stack: BenchStack, runs: readonly RunId[]): Promise<ProjectShare[]> {
  const before = await Promise.all(runs.map((runId) => endedOf(stack, runId)))
  await delay(scale.windowMs)
  const after = await Promise.all(runs.map((runId) => endedOf(stack, runId)))
  return projects.map((project, at) => ({ project, ended: (after[at] ?? 0) - (before[at] ?? 0) }))
}

async function faultsOf({ ledger }: BenchStack, runs: readonly RunId[]): Promise<string[]> {
  const faults: string[] = []
  for (const runId of runs) {
    const { status, counts } = await ledger.getRun(runId)
    const { violations } = await ledger.verify(runId)
    if (status !== 'completed' || counts.succeeded !== scale.operations)
      faults.push(`a run is ${status} with ${counts.succeeded} of ${scale.operations} operations`)
    faults.push(...violations.map(({ message }) => message))
  }
  return faults
}

const memoryOf = (workers: readonly BenchWorker[]) => Promise.all(workers.map(({ pid }) => memoryOfTree(pid)))

/** MB (10⁶ bytes) that programs may still take of this machine. */
function availableMb(): number {
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]
  return (Number(kib) * 1024) / 1e6
}

async function measure(stack: BenchStack, model: FakeModel, workers: readonly BenchWorker[]): Promise<WorkersFigures> {
  const idleMb = await memoryOf(workers)
  const warmUp = await planRun(stack, { first: 0, count: warmOperations * workers.length })
  await startRun(stack, warmUp)
  await untilAll(stack, [warmUp], ({ phase }) => phase !== 'execution')
  console.log('warm')
  const runs: RunId[] = []
  for (const [at, project] of projects.entries()) {
    await stack.pinFor(project)
    runs.push(await planRun(stack, { first: (at + 1) * numbersPerRun, count: scale.operations, project }))
  }
  await Promise.all(runs.map((runId) => startRun(stack, runId)))
  await delay(scale.warmMs)
  await model.takeCounts()
  const shares = await measureShares(stack, runs)
  const { load } = await model.takeCounts()
  const faults = (await Promise.all(runs.map((runId) => endedOf(stack, runId)))).flatMap((ended, at) =>
    ended < scale.operations ? [] : [`the run of project ${projects[at]} ended while it was measured`],
  )
  const workingMb = await memoryOf(workers)
  await untilAll(stack, runs, ({ phase }) => phase !== 'execution')
  runs.forEach((runId) => stack.allowComposition(runId))
  await untilAll(stack, runs, ({ status }) => status !== 'running')
  const composedMb = await memoryOf(workers)
  faults.push(...(await faultsOf(stack, runs)))
  return { workers: workers.length, idleMb, workingMb, composedMb, used: heldShare(load, scale.limit), shares, faults }
}

const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
const model = await startFakeModel({ latencyMs: { least: latencyMs, most: latencyMs }, slots: scale.limit })
const stack = await openBenchStack(dir)
try {
  const startedAt = performance.now()
  const env = { ...leanMemory, NODE_COMPILE_CACHE: join(dir, 'cache'), REMORA_MODEL_MAX_IN_FLIGHT: String(scale.limit) }
  const workers = await startAll(stack, { modelUrl: model.url, slots, env, nodeOptions: lastingFlags })
  console.log(`${workers.length} workers after ${Math.round((performance.now() - startedAt) / 1000)} s`)
  const figures = await measure(stack, model, workers)
  await Promise.all(workers.map((worker) => worker.stop()))
  await saveReport(
    'workers',
    renderWorkers({ ...scale, slots, latencyMs, redisVersion: stack.redisVersion }, figures),
    {
      quick,
    },
  )
  process.exitCode = figures.faults.length === 0 ? 0 : 1
} finally {
  await stack.close()
  await model.stop()
  await rm(dir, { recursive: true, force: true })
}
