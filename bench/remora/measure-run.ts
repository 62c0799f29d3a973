import type { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { delay } from '#platform/clock.ts'
import { cpuBetween, processCpu } from './process-cpu.ts'
import type { ModelLoad } from '../model/load-meter.ts'
import type { FakeModel } from '../model/start-fake-model.ts'
import { countFaults } from '../model/start-fake-model.ts'
import type { BenchStack } from './bench-stack.ts'
import { planRun, startRun } from './plan-run.ts'

/** One measured run. CPU is user and system, in ms for the whole run; times are `process.hrtime`, in µs. */
export type RunFigures = {
  operations: number
  wallMs: number
  workerCpu: number
  /** The part of `workerCpu` that its main thread took: the rest is Ruff's thread, sockets' and V8's helpers. */
  workerMainCpu: number
  scriptCpu: number
  redisCpu: number
  s3Cpu: number
  modelCpu: number
  dispatcherCpu: number
  /** The worker's CPU for putting the change sets together, which is after the operations and not in `workerCpu`. */
  compositionCpu: number
  bodyBytes: number
  /** The number of requests at the model over time. */
  load: ModelLoad
  between: { fromUs: number; toUs: number }
  /** What is wrong with the round; empty when it is valid. */
  faults: string[]
}

export type RunParts = {
  stack: BenchStack
  model: FakeModel
  workerPid: number
  /** Called when the last operation has ended, before the run is composed. */
  onLastOperation?: () => void
}

const pollMs = 10
const limitMs = 120_000

/**
 * Plans a run of `count` operations on nodes of their own, measures it from its start to its last operation, proves it.
 */
export async function measureRun(parts: RunParts, first: number, count: number): Promise<RunFigures> {
  const { stack, model, workerPid } = parts
  const runId = await planRun(stack, { first, count })
  await model.takeCounts()
  const before = sample(parts)
  await startRun(stack, runId)
  await phaseReached(stack, runId, ({ phase }) => phase !== 'execution' && phase !== 'planning')
  const after = sample(parts)
  parts.onLastOperation?.()
  const counts = await model.takeCounts()
  stack.allowComposition(runId)
  await phaseReached(stack, runId, ({ status }) => status !== 'running')
  const composed = processCpu(workerPid)
  const worker = cpuBetween(before.worker, after.worker)
  const totalOf = (name: 'redis' | 's3' | 'model') => cpuBetween(before[name], after[name]).own
  return {
    operations: count,
    wallMs: (after.atUs - before.atUs) / 1000,
    workerCpu: worker.own,
    workerMainCpu: worker.mainThread,
    scriptCpu: worker.children,
    redisCpu: totalOf('redis'),
    s3Cpu: totalOf('s3'),
    modelCpu: totalOf('model'),
    dispatcherCpu: cpuBetween(before.bench, after.bench).own,
    compositionCpu: cpuBetween(after.worker, composed).own,
    bodyBytes: counts.bodyBytes,
    load: counts.load,
    between: { fromUs: before.atUs, toUs: after.atUs },
    faults: [...countFaults(counts, count), ...(await runFaults(stack, runId, count))],
  }
}

function sample({ stack, model, workerPid }: RunParts) {
  return {
    atUs: Number(process.hrtime.bigint() / 1000n),
    worker: processCpu(workerPid),
    redis: processCpu(stack.redis.pid),
    s3: processCpu(stack.s3.pid),
    model: processCpu(model.pid),
    bench: processCpu(process.pid),
  }
}

async function phaseReached({ ledger }: BenchStack, runId: RunId, isReached: (run: Run) => boolean): Promise<void> {
  const deadline = performance.now() + limitMs
  while (!isReached(await ledger.getRun(runId))) {
    if (performance.now() > deadline) throw new Error(`run ${runId} did not move on within ${limitMs} ms`)
    await delay(pollMs)
  }
}

/** Every operation changed its file, nothing else happened, and the ledger's counters agree with its events. */
async function runFaults({ ledger }: BenchStack, runId: RunId, count: number): Promise<string[]> {
  const { status, counts } = await ledger.getRun(runId)
  const { violations, operations } = await ledger.verify(runId)
  return [
    ...(status === 'completed' ? [] : [`the run is ${status}`]),
    ...(counts.succeeded === count ? [] : [`${counts.succeeded} of ${count} operations succeeded`]),
    ...(operations === count ? [] : [`the ledger has ${operations} operations`]),
    ...violations.map(({ message }) => message),
  ]
}
