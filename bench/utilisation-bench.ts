import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { countFaults, startFakeModel, type FakeModel } from './model/start-fake-model.ts'
import { peers, runPeer } from './peers/run-peer.ts'
import { openBenchStack, type BenchStack } from './remora/bench-stack.ts'
import { startBenchWorker } from './remora/bench-worker.ts'
import { measureRun } from './remora/measure-run.ts'
import { saveReport } from './reports/markdown-report.ts'
import { renderProcesses, renderUtilisation, type UtilisationRound } from './reports/utilisation-report.ts'
import { utilisationOf } from './model/load-meter.ts'

/**
 * `node bench/utilisation-bench.ts`: how busy one worker keeps a model of 500 ms with all its slots, compared with the
 * least loop with as many agents at once. Writes results/utilisation.md; with `--quick` it only prints.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const latencyMs = 500
const slots = 256
/** Agents are a multiple of the slots: the bare loop then has no half-empty last cohort. */
const scale = quick
  ? { agents: 4 * slots, warmup: slots, rounds: 1 }
  : { agents: 12 * slots, warmup: 2 * slots, rounds: 3 }
const numbersPerRun = 100_000

async function measureBare(model: FakeModel): Promise<UtilisationRound['bare']> {
  const [bare] = peers
  if (bare === undefined) throw new Error('there is no bare loop')
  const { agents } = scale
  await model.takeCounts()
  const given = { url: model.url, redisUrl: 'redis://unused', agents, warmup: 0, concurrency: slots }
  const figures = await runPeer(bare, given)
  const counts = await model.takeCounts()
  const used = utilisationOf(counts.load, { slots, latencyMs, wallMs: figures.wallMs })
  return { ...figures, ...used, faults: countFaults(counts, agents) }
}

async function measureRounds(model: FakeModel, stack: BenchStack): Promise<UtilisationRound[]> {
  const worker = await startBenchWorker(stack, { modelUrl: model.url, slots })
  const parts = { stack, model, workerPid: worker.pid }
  await measureRun(parts, 0, scale.warmup)
  const rounds: UtilisationRound[] = []
  for (let round = 1; round <= scale.rounds; round++) {
    const bare = await measureBare(model)
    const figures = await measureRun(parts, round * numbersPerRun, scale.agents)
    const used = utilisationOf(figures.load, { slots, latencyMs, wallMs: figures.wallMs })
    console.log(`round ${round}: bare ${bare.steady.toFixed(3)}, remora ${used.steady.toFixed(3)}`)
    rounds.push({ bare, remora: { ...figures, ...used } })
  }
  await worker.stop()
  return rounds
}

const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
const model = await startFakeModel({ latencyMs: { least: latencyMs, most: latencyMs }, slots })
const stack = await openBenchStack(dir)
try {
  const rounds = await measureRounds(model, stack)
  const measuredScale = { ...scale, slots, latencyMs, redisVersion: stack.redisVersion }
  console.log(renderProcesses(measuredScale, rounds))
  const text = renderUtilisation(measuredScale, rounds)
  await saveReport('utilisation', text, { quick })
  process.exitCode = rounds.every(({ bare, remora }) => bare.faults.length + remora.faults.length === 0) ? 0 : 1
} finally {
  await stack.close()
  await model.stop()
  await rm(dir, { recursive: true, force: true })
}
