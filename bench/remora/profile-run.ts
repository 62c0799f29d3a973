import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FakeModel } from '../model/start-fake-model.ts'
import { profileAreas } from '../parts/process-cpu.ts'
import type { BenchStack } from './bench-stack.ts'
import { startBenchWorker } from './bench-worker.ts'
import { openCountingProxy } from './counting-proxy.ts'
import { measureRun, type RunFigures } from './measure-run.ts'

export type ProfiledRun = {
  figures: RunFigures
  /** Share of the CPU of the worker's main thread by area. */
  areas: Map<string, number>
  /** Requests to the object store during the operations, by method and kind. */
  storeRequests: Map<string, number>
}

const samplingUs = 500
/** CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile */
const mainThreadProfile = /\.0\.\d+\.cpuprofile$/

/** A run on a worker of its own under V8's profiler, whose requests to the object store go through a counting proxy. */
export async function profileRun(
  parts: { stack: BenchStack; model: FakeModel; dir: string; slots: number },
  numbers: { first: number; warmup: number; operations: number },
): Promise<ProfiledRun> {
  const { stack, model, dir, slots } = parts
  const proxy = await openCountingProxy(stack.s3.endpoint)
  const nodeOptions = ['--cpu-prof', `--cpu-prof-dir=${dir}`, `--cpu-prof-interval=${samplingUs}`]
  const worker = await startBenchWorker(stack, { modelUrl: model.url, slots, s3Endpoint: proxy.url, nodeOptions })
  const measured = { stack, model, workerPid: worker.pid }
  const { first, warmup, operations } = numbers
  await measureRun(measured, first, warmup)
  proxy.takeCounts()
  let storeRequests = new Map<string, number>()
  const onLastOperation = () => (storeRequests = proxy.takeCounts())
  const figures = await measureRun({ ...measured, onLastOperation }, first + warmup, operations)
  await worker.stop()
  proxy.close()
  const [profile] = (await readdir(dir)).filter((name) => mainThreadProfile.test(name))
  if (profile === undefined) throw new Error('the worker wrote no profile')
  return { figures, areas: profileAreas(join(dir, profile), figures.between), storeRequests }
}
