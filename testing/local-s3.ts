import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { ownChildEnv } from '#platform/child-env.ts'

/** Listens on 127.0.0.1 only, and serves clients with its keys, which are new at each start. */
export type LocalS3 = {
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  pid: number
  /** Rejects with STORE_002 when the server ends, asked to or not; never resolves. */
  failed: Promise<never>
  stop(): Promise<void>
}

const entry = fileURLToPath(new URL('local-s3-main.ts', import.meta.url))
/** Each request leaves much garbage. With the usual young generation of 32 MB and more the process grows by 150 MB. */
const execArgv = ['--max-semi-space-size=4']
const bucket = 'remora'
const Ready = z.object({ port: z.int().positive() })

/** Serves the folder `dir` (made if missing) on a free port from a child process. CONFIG_006 when it does not start; `signal` kills it. */
export async function startLocalS3(options: { dir: string; signal?: AbortSignal }): Promise<LocalS3> {
  await mkdir(options.dir, { recursive: true, mode: 0o700 })
  // A process group of its own: a signal to the terminal's group must not end the store before the processes that write to it.
  const child = fork(entry, [options.dir, bucket], {
    execArgv,
    env: ownChildEnv(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true,
  })
  const gone = once(child, 'exit')
  // Not in its environment or arguments, which other users may read. A message sent before the child listens is not lost.
  const keys = { accessKeyId: randomKey(), secretAccessKey: randomKey() }
  if (child.connected) child.send(keys, () => {})
  const kill = () => void child.kill('SIGKILL')
  options.signal?.addEventListener('abort', kill)
  const port = await readPort(child, gone)
  const failed = gone.then(() => {
    throw new AppError('STORE_002', 'the embedded S3 server ended')
  })
  failed.catch(() => {}) // callers that await it get the error
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    region: 'us-east-1',
    ...keys,
    pid: child.pid ?? 0,
    failed,
    async stop() {
      options.signal?.removeEventListener('abort', kill)
      kill()
      await gone
    },
  }
}

function randomKey(): string {
  return randomBytes(24).toString('hex')
}

async function readPort(child: ChildProcess, gone: Promise<unknown>): Promise<number> {
  const errors: string[] = []
  child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk.toString()))
  const failed = gone.then(() => {
    throw new AppError('CONFIG_006', `the embedded S3 server did not start: ${errors.join('').slice(0, 2000)}`)
  })
  const [message]: unknown[] = await Promise.race([once(child, 'message'), failed])
  failed.catch(() => {}) // it may exit at any time later
  child.stderr?.resume()
  return Ready.parse(message).port
}
