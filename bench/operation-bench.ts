import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { countFaults, startFakeModel, type FakeModel } from './model/start-fake-model.ts'
import { peers, runPeer } from './peers/run-peer.ts'
import { openBenchStack, type BenchStack } from './remora/bench-stack.ts'
import { startBenchWorker } from './remora/bench-worker.ts'
import { measureRun, type RunFigures } from './remora/measure-run.ts'
import { profileRun } from './remora/profile-run.ts'
import { saveReport } from './reports/markdown-report.ts'
import { renderCosts, renderOperation, type PeerRound, type Round } from './reports/operation-report.ts'

/**
 * `node bench/operation-bench.ts`: what one agent run of three turns costs us in CPU, with everything a real run has
 * around it, compared with the least loop and two peers on the same fake model. Writes results/operation.md; with `--quick`, a
 * smoke test, it only prints.
 */
const { quick } = parseArgs({ options: { quick: { type: 'boolean', default: false } } }).values
const scale = quick
  ? { operations: 200, warmup: 64, rounds: 1, concurrency: 16 }
  : { operations: 2000, warmup: 512, rounds: 3, concurrency: 64 }

/** Numbers of nodes: each run has its own, so that no cache of the worker has seen its files. */
const numbersPerRun = 100_000

async function measurePeers(model: FakeModel, stack: BenchStack): Promise<PeerRound[]> {
  const rounds: PeerRound[] = []
  const { operations: agents, warmup, concurrency } = scale
  for (const peer of peers) {
    await model.takeCounts()
    const figures = await runPeer(peer, { url: model.url, redisUrl: stack.redis.url, agents, warmup, concurrency })
    const counts = await model.takeCounts()
    rounds.push({ peer, ...figures, bodyBytes: counts.bodyBytes, faults: countFaults(counts, agents + warmup) })
    console.log(`  ${peer.name}: ${(figures.cpuMs / agents).toFixed(3)} CPU ms`)
  }
  return rounds
}

function say(figures: RunFigures): RunFigures {
  const cpu = (figures.workerCpu + figures.scriptCpu) / figures.operations
  console.log(`  remora: ${cpu.toFixed(3)} CPU ms${figures.faults.map((fault) => `\n  NOT PROVED: ${fault}`).join('')}`)
  return figures
}

async function measureRounds(model: FakeModel, stack: BenchStack): Promise<Round[]> {
  const { operations, warmup, concurrency: slots } = scale
  const worker = await startBenchWorker(stack, { modelUrl: model.url, slots })
  const parts = { stack, model, workerPid: worker.pid }
  await measureRun(parts, 0, warmup)
  const rounds: Round[] = []
  for (let round = 1; round <= scale.rounds; round++) {
    console.log(`round ${round} of ${scale.rounds}`)
    const measuredPeers = await measurePeers(model, stack)
    rounds.push({ remora: say(await measureRun(parts, round * numbersPerRun, operations)), peers: measuredPeers })
  }
  await worker.stop()
  return rounds
}

const startedAt = performance.now()
const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
const profileDir = join(dir, 'profile')
await mkdir(profileDir)
const model = await startFakeModel()
const stack = await openBenchStack(dir)
try {
  const rounds = await measureRounds(model, stack)
  console.log('profiled round')
  const numbers = { first: 50 * numbersPerRun, warmup: scale.warmup, operations: scale.operations / 2 }
  const profiled = await profileRun({ stack, model, dir: profileDir, slots: scale.concurrency }, numbers)
  say(profiled.figures)
  const text = renderOperation(
    { ...scale, tookMs: performance.now() - startedAt, redisVersion: stack.redisVersion },
    rounds,
  )
  console.log(renderCosts(rounds, profiled))
  await saveReport('operation', text, { quick })
  const proved = rounds.every(({ remora, peers: others }) =>
    [remora, ...others].every(({ faults }) => faults.length === 0),
  )
  process.exitCode = proved ? 0 : 1
} finally {
  await stack.close()
  await model.stop()
  await rm(dir, { recursive: true, force: true })
}
