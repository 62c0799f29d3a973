import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { AppError } from '#domain/error.ts'
import { after, delay } from '#platform/clock.ts'
import { lastLineOf } from './run-program.ts'

const programs = ['redis-server', 'valkey-server'] as const
const startMs = 15_000
const stopMs = 5_000
const portAttempts = 3

export type LocalRedis = { url: string; pid: number; stop(): Promise<void> }
/**
 * `program`: see obtain-redis.ts; the first of the two on the PATH without it. `port`: that of an earlier start, whose clients wait there; a free one without it. `settings` as in redis.conf, over
 * ours.
 */
type RedisPlace = { dir: string; program?: string; port?: number; settings?: Readonly<Record<string, string>> }

/**
 * Starts the system's Redis (or Valkey) on 127.0.0.1 at a free port, with its append-only file in `dir`, and resolves
 * when it answers PING. Data of an earlier start in the same folder is there again. CONFIG_006 when there is no such
 * program or it does not start; `signal` ends the wait and the program. `stop` may be called twice, and the program
 * is also ended when this process exits.
 */
export async function startLocalRedis(options: RedisPlace & { signal?: AbortSignal }): Promise<LocalRedis> {
  await mkdir(options.dir, { recursive: true })
  const child = await spawnRedis(options, portAttempts)
  const stop = stopper(child.process)
  try {
    await waitUntilReady(child, options.signal)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `redis://127.0.0.1:${child.port}`, pid: child.pid, stop }
}

type Spawned = { process: ChildProcess; pid: number; port: number; lastLine(): string }

async function spawnRedis(place: RedisPlace, attemptsLeft: number): Promise<Spawned> {
  const port = place.port ?? (await freePort())
  for (const program of place.program === undefined ? programs : [place.program]) {
    const child = await spawnProgram(program, place, port)
    if (child === undefined) continue
    // Between finding the port and listening on it another program may have taken it.
    const lostPort = child.process.exitCode !== null && /in use/i.test(child.lastLine())
    return lostPort && attemptsLeft > 1 ? spawnRedis(place, attemptsLeft - 1) : child
  }
  const names = place.program ?? programs.join(' or ')
  throw new AppError('CONFIG_006', `there is no ${names}: "remora doctor" says how to get Redis on this system`)
}

/** Undefined: there is no such program on PATH. */
async function spawnProgram(program: string, place: RedisPlace, port: number): Promise<Spawned | undefined> {
  const child = spawn(program, settings(place, port), { stdio: ['ignore', 'pipe', 'pipe'] })
  const lines = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (lines.out = lastLineOf(lines.out + text)))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (lines.err = lastLineOf(lines.err + text)))
  const lastLine = () => lines.err || lines.out
  try {
    await once(child, 'spawn')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new AppError('CONFIG_006', `${program} cannot be started.`, { cause: error })
  }
  await Promise.race([answersPing(port, 200), once(child, 'exit')])
  return { process: child, pid: child.pid ?? 0, port, lastLine }
}

function settings(place: RedisPlace, port: number): string[] {
  const values = {
    bind: '127.0.0.1',
    port: String(port),
    dir: place.dir,
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '',
    'maxmemory-policy': 'noeviction',
    ...place.settings,
  }
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, value])
}

async function waitUntilReady(child: Spawned, signal: AbortSignal | undefined): Promise<void> {
  const deadline = performance.now() + startMs
  while (child.process.exitCode === null && child.process.signalCode === null) {
    signal?.throwIfAborted()
    if (await answersPing(child.port, 500)) return
    if (performance.now() > deadline) break
    await delay(20, signal)
  }
  throw new AppError('CONFIG_006', `Redis did not start: ${child.lastLine() || 'it said nothing'}`)
}

/** Also false while Redis is still loading its append-only file. */
function answersPing(port: number, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    const finish = (ready: boolean) => {
      socket.destroy()
      resolve(ready)
    }
    socket.setTimeout(withinMs, () => finish(false))
    socket.on('error', () => finish(false))
    socket.on('connect', () => socket.write('PING\r\n'))
    socket.on('data', (reply) => finish(reply.toString().startsWith('+PONG')))
  })
}

function stopper(child: ChildProcess): () => Promise<void> {
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  return async () => {
    process.removeListener('exit', kill)
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
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('a TCP server has an address and a port')
  return address.port
}
