import { spawn } from 'node:child_process'
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

/** Starts the worker as it is started in production, a process of its own, and waits until it has announced its slots. */
export async function startBenchWorker(stack: BenchStack, options: WorkerOptions): Promise<BenchWorker> {
  const { s3, redis } = stack
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
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const gone = once(child, 'exit')
  while ((await stack.liveSlots()) < options.slots) {
    if (child.exitCode !== null) throw new Error(`the worker did not start: exit code ${child.exitCode}`)
    await delay(pollMs)
  }
  return {
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM')
      await gone
      process.removeListener('exit', kill)
    },
  }
}
