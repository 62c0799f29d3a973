import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import type { Env } from '#platform/env.ts'
import { lastWords } from './last-words.ts'
import type { StackLog } from './stack-log.ts'

export type WorkerPool = {
  /** The processes alive now. */
  pids(): number[]
  /** Rejects with CONFIG_006 when workers die faster than it makes sense to start them again; never resolves. */
  failed: Promise<never>
  stop(): Promise<void>
}

const workerEntry = fileURLToPath(new URL('../../services/worker/main.ts', import.meta.url))
const stopMs = 6_000
const deathsAllowed = 5
const withinMs = 60_000
/** Of what a worker said last; enough for a stack trace. */
const heardChars = 8_000

type Pool = {
  env: Env
  entry: string
  log: StackLog
  living: Set<ChildProcess>
  deaths: number[]
  stopping: boolean
  fail(error: AppError): void
}

/**
 * Starts `count` worker processes with nothing but `env`, and starts a dead one again, at most 5 times a minute. They end
 * with this process, however it ends; Ctrl-C in the terminal reaches them only through `stop`.
 */
export function startWorkerPool(options: { count: number; env: Env; log: StackLog; entry?: string }): WorkerPool {
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => {}) // who waits for it hears of it; nobody may be waiting yet
  const pool: Pool = {
    env: options.env,
    entry: options.entry ?? workerEntry,
    log: options.log,
    living: new Set(),
    deaths: [],
    stopping: false,
    fail: failure.reject,
  }
  for (let started = 0; started < options.count; started++) startWorker(pool)
  return {
    pids: () => [...pool.living].flatMap((child) => child.pid ?? []),
    failed: failure.promise,
    stop: () => stopAll(pool),
  }
}

function startWorker(pool: Pool): void {
  const child = fork(pool.entry, [], {
    env: { ...pool.env },
    execArgv: [],
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  pool.living.add(child)
  let heard = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    pool.log.write(text)
    heard = `${heard}${text}`.slice(-heardChars)
  })
  child.on('error', (error) => (heard = error.message))
  child.on('close', (code, signal) => {
    pool.living.delete(child)
    if (pool.stopping) return
    const words = lastWords(heard)
    replaceWorker(pool, `${signal ?? `exit code ${code}`}${words === '' ? '' : `: ${words}`}`)
  })
}

function replaceWorker(pool: Pool, cause: string): void {
  const now = performance.now()
  pool.deaths = [...pool.deaths.filter((at) => now - at < withinMs), now]
  pool.log.entry.warn('worker process ended', { cause, deaths: pool.deaths.length })
  if (pool.deaths.length <= deathsAllowed) return startWorker(pool)
  return pool.fail(
    new AppError(
      'CONFIG_006',
      `worker processes ended ${pool.deaths.length} times within a minute, the last with ${cause}`,
    ),
  )
}

async function stopAll(pool: Pool): Promise<void> {
  pool.stopping = true
  await Promise.all(
    [...pool.living].map(async (child) => {
      const gone = once(child, 'close')
      child.kill('SIGTERM')
      const cancelKill = after(stopMs, () => child.kill('SIGKILL'))
      await gone
      cancelKill()
    }),
  )
}
