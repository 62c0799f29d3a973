import { countFaults, startFakeModel, type FakeModel } from '../model/start-fake-model.ts'
import type { PeerFigures } from '../peers/measure-peer.ts'
import { runPeer, type Peer } from '../peers/run-peer.ts'
import { type Utilisation, utilisationOf } from '../model/load-meter.ts'

export type LoopScale = { agents: number; warmup: number; rounds: number; concurrency: number; latencyMs: number }
export type Measured = PeerFigures & Utilisation & { bodyBytes: number; faults: string[] }
/** The rounds of one runner, in order: those with one index were measured right after one another. */
export type RunnerRounds = { runner: Peer; measured: Measured[] }

/** Every runner in every round, A B C A B C …, each in a process of its own, on one fake model. */
export async function measureRounds(runners: readonly Peer[], scale: LoopScale): Promise<RunnerRounds[]> {
  const { latencyMs, concurrency: slots } = scale
  const model = await startFakeModel({ latencyMs: { least: latencyMs, most: latencyMs }, slots })
  const rows = runners.map((runner): RunnerRounds => ({ runner, measured: [] }))
  try {
    for (let round = 1; round <= scale.rounds; round++) {
      console.log(`round ${round} of ${scale.rounds}, ${latencyMs} ms`)
      for (const { runner, measured } of rows) {
        const figures = await measureRunner(runner, model, scale)
        console.log(`  ${runner.name}: ${(figures.cpuMs / scale.agents).toFixed(3)} CPU ms`)
        for (const fault of figures.faults) console.log(`  NOT PROVED: ${fault}`)
        measured.push(figures)
      }
    }
  } finally {
    await model.stop()
  }
  return rows
}

async function measureRunner(runner: Peer, model: FakeModel, scale: LoopScale): Promise<Measured> {
  const { agents, warmup, concurrency, latencyMs } = scale
  await model.takeCounts()
  const figures = await runPeer(runner, { url: model.url, redisUrl: 'redis://unused', agents, warmup, concurrency })
  const counts = await model.takeCounts()
  const { bodyBytes, load } = counts
  return {
    ...figures,
    ...utilisationOf(load, { slots: concurrency, latencyMs, wallMs: figures.wallMs }),
    bodyBytes,
    faults: countFaults(counts, agents + warmup),
  }
}
