import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { once } from 'node:events'
import { createServer, request as sendRequest } from 'node:http'
import { boundPort } from '#platform/http-health.ts'
import type { FakeModel } from '../model/start-fake-model.ts'
import { profileAreas } from './process-cpu.ts'
import type { BenchStack } from './bench-stack.ts'
import { startBenchWorker } from './bench-worker.ts'
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

export type CountingProxy = {
  url: string
  /** Requests since the last call, by method and kind of object: `PUT attempts`. */
  takeCounts(): Map<string, number>
  close(): void
}

/** A proxy in front of the object store that counts the worker's requests. Headers pass unchanged, so signatures hold. */
export async function openCountingProxy(endpoint: string): Promise<CountingProxy> {
  let counts = new Map<string, number>()
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming
    const kind = `${method} ${/projects\/[^/]+\/([^/]+)/.exec(url)?.[1] ?? 'other'}`
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    const forwarded = sendRequest(new URL(url, endpoint), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${boundPort(server)}`,
    takeCounts() {
      const taken = counts
      counts = new Map()
      return taken
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
