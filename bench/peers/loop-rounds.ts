import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { countFaults, type FakeModel, startFakeModel } from '../model/start-fake-model.ts'
import type { PeerFigures } from './measure-peer.ts'
import { ourRunner, type Peer, runPeer } from './run-peer.ts'
import { type Utilisation, utilisationOf } from '../model/load-meter.ts'
import { profileAreas } from '../remora/process-cpu.ts'

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

/** CPU ms per agent under the profiler, which adds to it, and the share of the main thread's time by area. */
export type ProfiledLoop = { cpuMsPerAgent: number; areas: Map<string, number> }

const samplingUs = 200

/** One more round of our loop under V8's profiler. */
export async function profileLoop({ agents, warmup, concurrency }: LoopScale): Promise<ProfiledLoop> {
  const dir = await mkdtemp(join(tmpdir(), 'remora-bench-'))
  const model = await startFakeModel()
  try {
    const options = ['--cpu-prof', `--cpu-prof-dir=${dir}`, `--cpu-prof-interval=${samplingUs}`]
    const given = { url: model.url, redisUrl: 'redis://unused', agents, warmup, concurrency }
    const { cpuMs, between } = await runPeer(ourRunner, given, options)
    const [profile] = (await readdir(dir)).filter((name) => name.endsWith('.cpuprofile'))
    if (profile === undefined) throw new Error('our loop wrote no profile')
    return { cpuMsPerAgent: cpuMs / agents, areas: profileAreas(join(dir, profile), between) }
  } finally {
    await model.stop()
    await rm(dir, { recursive: true, force: true })
  }
}

const folder = new URL('../frameworks/', import.meta.url)

/** Installs the frameworks by their lock file, once; throws when npm fails. It runs no install script of theirs. */
export function installFrameworks(): void {
  // npm writes this file last: an interrupted install is repeated.
  if (existsSync(new URL('node_modules/.package-lock.json', folder))) return
  console.log('installing the frameworks (about 160 MB)')
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--prefix', fileURLToPath(folder)], {
    cwd: folder,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('npm could not install bench/frameworks')
}
