import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { delay } from '#platform/clock.ts'
import type { BenchStack } from './bench-stack.ts'

export type BenchWorker = {
  pid: number
  /** Lets it end by itself, as a profile needs. */
  stop(): Promise<void>
}

export type WorkerOptions = {
  modelUrl: string
  /** Operations at once. */
  slots: number
  /** The object store's address, where it is not the stack's own. */
  s3Endpoint?: string
  nodeOptions?: readonly string[]
  /** Further settings. */
  env?: Readonly<Record<string, string>>
}

const entry = fileURLToPath(new URL('../../services/worker/main.ts', import.meta.url))
const pollMs = 50
const running = new Set<ChildProcess>()
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')))

/** Starts the worker as it is started in production, a process of its own, and waits until it has announced its slots. */
export async function startBenchWorker(stack: BenchStack, options: WorkerOptions): Promise<BenchWorker> {
  const { worker, exitCode } = spawnWorker(stack, options)
  while ((await stack.liveSlots()) < options.slots) {
    if (exitCode() !== null) throw new Error(`the worker did not start: exit code ${exitCode()}`)
    await delay(pollMs)
  }
  return worker
}

/** Starts `count` workers at once, and waits until all of them have announced themselves. */
export async function startBenchWorkers(
  stack: BenchStack,
  options: WorkerOptions,
  count: number,
): Promise<BenchWorker[]> {
  const wanted = (await stack.liveWorkers()) + count
  const spawned = Array.from({ length: count }, () => spawnWorker(stack, options))
  while ((await stack.liveWorkers()) < wanted) {
    const dead = spawned.find(({ exitCode }) => exitCode() !== null)
    if (dead !== undefined) throw new Error(`a worker did not start: exit code ${dead.exitCode()}`)
    await delay(pollMs)
  }
  return spawned.map(({ worker }) => worker)
}

function spawnWorker({ s3, redis }: BenchStack, options: WorkerOptions) {
  const child = spawn(process.execPath, [...(options.nodeOptions ?? []), entry], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      REMORA_REDIS_URL: redis.url,
      REMORA_S3_ENDPOINT: options.s3Endpoint ?? s3.endpoint,
      REMORA_S3_BUCKET: s3.bucket,
      REMORA_S3_REGION: s3.region,
      AWS_ACCESS_KEY_ID: s3.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
      REMORA_WORKER_SLOTS: String(options.slots),
      REMORA_WORKER_HEALTH_PORT: '0',
      REMORA_MODEL: 'fake',
      REMORA_MODEL_URLS: options.modelUrl,
      REMORA_MODEL_MAX_IN_FLIGHT: '4096',
      REMORA_LOG_LEVEL: 'warn',
      ...options.env,
    },
  })
  running.add(child)
  const gone = once(child, 'exit')
  const worker: BenchWorker = {
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM')
      await gone
      running.delete(child)
    },
  }
  return { worker, exitCode: () => child.exitCode }
}
