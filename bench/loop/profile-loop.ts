import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFakeModel } from '../model/start-fake-model.ts'
import { runPeer } from '../peers/run-peer.ts'
import { profileAreas } from '../parts/process-cpu.ts'
import { ourRunner } from './loop-runners.ts'
import type { LoopScale } from './measure-rounds.ts'

/** CPU ms per agent under the profiler, which makes it dearer, and the share of the main thread's time by area. */
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
