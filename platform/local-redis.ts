import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { AppError } from '#domain/error.ts'
import { after, delay } from './clock.ts'
import { leastEnv } from './child-env.ts'
import type { Env } from './env.ts'
import { boundPort } from './http-health.ts'
import { lastLineOf } from './run-program.ts'

const programs = ['redis-server', 'valkey-server'] as const
const startMs = 15_000
const stopMs = 5_000
const portAttempts = 3
const keptChars = 8_000
const readyLine = /ready to accept connections/i

export type LocalRedis = {
  url: string
  pid: number
  /** Rejects with STORE_001 when it has ended, also after `stop`. */
  failed: Promise<never>
  stop(): Promise<void>
}

type RedisPlace = {
  dir: string
  /** Is that of this process: the server program is found with it, and gets little of it. */
  env: Env
  /** The server program, see obtain-program.ts; by default the first of redis-server and valkey-server on the PATH. */
  program?: string
  /** The port of an earlier start, whose clients wait for it; by default a free one. */
  port?: number
  /** Letters, digits, `-`, `_`. Without one every user of the machine has full access: for tests and measurements. */
  password?: string
  /** Lines as in redis.conf; they override ours. */
  settings?: Readonly<Record<string, string>>
}

/**
 * Starts Redis or Valkey on 127.0.0.1 with its append-only file in `dir` (made if missing); resolves when it takes commands.
 * CONFIG_006 when there is no program or it does not start. The program ends with this process; `stop` may be called twice.
 */
export async function startLocalRedis(options: RedisPlace & { signal?: AbortSignal }): Promise<LocalRedis> {
  await mkdir(options.dir, { recursive: true, mode: 0o700 })
  options.signal?.throwIfAborted()
  const child = await spawnRedis(options, portAttempts)
  const login = options.password === undefined ? '' : `:${options.password}@`
  const failed = child.gone.then(() => {
    throw new AppError('STORE_001', `Redis ended: ${lastLineOf(child.said()) || 'it printed nothing'}`)
  })
  failed.catch(() => {}) // callers that await it get the error
  return { url: `redis://${login}127.0.0.1:${child.port}`, pid: child.pid, failed, stop: child.stop }
}

type Spawned = {
  process: ChildProcess
  pid: number
  port: number
  said(): string
  gone: Promise<unknown>
  stop(): Promise<void>
}

async function spawnRedis(options: RedisPlace & { signal?: AbortSignal }, attemptsLeft: number): Promise<Spawned> {
  const port = options.port ?? (await freePort())
  for (const program of options.program === undefined ? programs : [options.program]) {
    const child = await spawnProgram(program, options, port)
    if (child === undefined) continue
    try {
      await waitUntilReady(child, options.signal)
      return child
    } catch (error) {
      await child.stop()
      // Between finding the port and listening on it another program may have taken it.
      if (!/in use/i.test(child.said()) || attemptsLeft <= 1 || options.port !== undefined) throw error
      return spawnRedis(options, attemptsLeft - 1)
    }
  }
  const names = options.program ?? programs.join(' or ')
  throw new AppError('CONFIG_006', `there is no ${names}: "remora doctor" says how to get Redis on this system`)
}

async function spawnProgram(program: string, options: RedisPlace, port: number): Promise<Spawned | undefined> {
  const child = spawn(program, ['-', ...settings(options, port)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: leastEnv(options.env),
  })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  const stop = stopper(child) // before anything is waited for: this process may have to exit at any time
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output = `${output}${text}`.slice(-keptChars)))
  }
  child.stdin.on('error', () => {}) // it has ended, and its output says why
  // Read like redis.conf. Every user could read arguments.
  child.stdin.end(options.password === undefined ? '' : `requirepass ${options.password}\n`)
  try {
    await once(child, 'spawn')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new AppError('CONFIG_006', `${program} cannot be started.`, { cause: error })
  }
  return { process: child, pid: child.pid ?? 0, port, said: () => output, gone, stop }
}

function settings(options: RedisPlace, port: number): string[] {
  const values = {
    bind: '127.0.0.1',
    port: String(port),
    dir: options.dir,
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '',
    'maxmemory-policy': 'noeviction',
    ...options.settings,
  }
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, value])
}

/** Its own output counts, not an answer at its port, where another program may be listening. */
async function waitUntilReady(child: Spawned, signal: AbortSignal | undefined): Promise<void> {
  const deadline = performance.now() + startMs
  while (child.process.exitCode === null && child.process.signalCode === null) {
    signal?.throwIfAborted()
    if (readyLine.test(child.said())) return
    if (performance.now() > deadline) break
    await delay(20, signal)
  }
  await delay(20) // what it said at its end may still be on its way
  throw new AppError('CONFIG_006', `Redis did not start: ${lastLineOf(child.said()) || 'it printed nothing'}`)
}

function stopper(child: ChildProcess): () => Promise<void> {
  const kill = () => void child.kill('SIGKILL')
  const forget = () => void process.removeListener('exit', kill)
  process.once('exit', kill)
  child.once('exit', forget).once('error', forget)
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    const cancelKill = after(stopMs, kill)
    child.kill('SIGTERM')
    await exited
    cancelKill()
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = boundPort(server)
  server.close()
  await once(server, 'close')
  return port
}
