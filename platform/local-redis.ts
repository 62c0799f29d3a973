import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { Writable } from 'node:stream'
import { AppError } from '#domain/error.ts'
import { after } from './clock.ts'
import { leastEnv } from './child-env.ts'
import type { Env } from './env.ts'
import { boundPort } from './http-health.ts'
import { findProgram, lastLineOf } from './run-program.ts'

const programs = ['redis-server', 'valkey-server'] as const
const startMs = 15_000
const stopMs = 5_000
const portAttempts = 3
const keptChars = 8_000
const readyLine = /ready to accept connections/i

/**
 * Becomes Redis once a line comes through fd 3, which only our process can write to, and ends Redis when that closes without another
 * line: our process has ended, however it did.
 */
const guarded = 'read -r _ <&3 || exit 1; { read -r _ || kill "$$"; } <&3 >/dev/null 2>&1 & exec "$@" 3<&-'

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
  /** Is awaited when there is the process, and before it looks at `dir`. */
  onProcess?(pid: number): Promise<void>
}

/**
 * Starts Redis or Valkey on 127.0.0.1 with its append-only file in `dir` (made if missing); resolves when it takes commands.
 * CONFIG_006 when there is no program or it does not start. The program ends with this process, also when that is killed, and Ctrl-C in a
 * terminal does not reach it: its writers must end first. `stop` may be called twice.
 */
export async function startLocalRedis(options: RedisPlace & { signal?: AbortSignal }): Promise<LocalRedis> {
  await mkdir(options.dir, { recursive: true, mode: 0o700 })
  options.signal?.throwIfAborted()
  const child = await spawnRedis(options, portAttempts)
  const login = options.password === undefined ? '' : `:${options.password}@`
  const failed = child.gone.then(() => {
    throw new AppError('STORE_001', `the embedded Redis ended: ${lastLineOf(child.said()) || 'it printed nothing'}`)
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
  /** Its whole output has come. */
  closed: Promise<false>
  stop(): Promise<void>
}

type Starting = RedisPlace & { signal?: AbortSignal }

async function spawnRedis(options: Starting, attemptsLeft: number): Promise<Spawned> {
  const program = options.program ?? (await findServer(options.env))
  const child = spawnProgram(program, options, options.port ?? (await freePort()))
  try {
    await Promise.race([begin(child, options), child.gone])
    await waitUntilReady(child, options.signal)
    return child
  } catch (error) {
    await child.stop()
    // Between finding the port and listening on it another program may have taken it.
    if (!/in use/i.test(child.said()) || attemptsLeft <= 1 || options.port !== undefined) throw error
    return spawnRedis(options, attemptsLeft - 1)
  }
}

async function findServer(env: Env): Promise<string> {
  for (const name of programs) {
    const path = await findProgram(name, env['PATH'] ?? '')
    if (path !== undefined) return path
  }
  const names = programs.join(' or ')
  throw new AppError('CONFIG_006', `there is no ${names}: "remora doctor" says how to get Redis on this system`)
}

function spawnProgram(program: string, options: RedisPlace, port: number): Spawned {
  const child = spawn('/bin/sh', ['-c', guarded, 'sh', program, '-', ...settings(options, port)], {
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    detached: true,
    env: leastEnv(options.env),
  })
  const gone = new Promise((resolve) => child.once('exit', resolve).once('error', resolve))
  const closed = new Promise<false>((resolve) => child.once('close', () => resolve(false)))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output = `${output}${text}`.slice(-keptChars)))
  }
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const cancelKill = after(stopMs, () => child.kill('SIGKILL'))
    child.kill('SIGTERM')
    await gone
    cancelKill()
  }
  return { process: child, pid: child.pid ?? 0, port, said: () => output, gone, closed, stop }
}

async function begin({ process: child, pid, gone }: Spawned, { password, onProcess }: RedisPlace): Promise<void> {
  const [input, , , life] = child.stdio
  // One that has ended says why in its output.
  for (const stream of [input, life]) stream?.on('error', () => {})
  await onProcess?.(pid)
  // Read like redis.conf. Every user could read arguments.
  child.stdin?.end(password === undefined ? '' : `requirepass ${password}\n`)
  if (!(life instanceof Writable)) return
  life.write('\n')
  void gone.then(() => life.end('\n')) // what watches over it ends without ending another process of this id
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
  const limit = AbortSignal.any([AbortSignal.timeout(startMs), ...(signal === undefined ? [] : [signal])])
  const isReady = await Promise.race([child.closed, lineOf(child, limit)]).catch(() => false)
  signal?.throwIfAborted()
  if (!isReady)
    throw new AppError('CONFIG_006', `Redis did not start: ${lastLineOf(child.said()) || 'it printed nothing'}`)
}

async function lineOf(child: Spawned, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    if (readyLine.test(child.said())) return true
    await once(child.process.stdout ?? child.process, 'data', { signal })
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
