import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import type { Env } from '#platform/env.ts'
import { lastingFlags } from '#platform/lean-memory.mjs'
import { parseJson } from '#domain/json.ts'
import type { StackLog } from './stack-log.ts'

export type WorkerPool = {
  /** Returns those alive now; `healthPort` is undefined until one has come up. */
  workers(): { pid: number; healthPort: number | undefined }[]
  /** Resolves when each of the first workers has come up, or died. */
  begun: Promise<unknown>
  /** Rejects with CONFIG_006 when no worker comes up at all, and none did before; never resolves. */
  failed: Promise<never>
  stop(): Promise<void>
}

/** Says the pause before a dead worker starts again: `firstMs`, then twice as long each time, at most `mostMs`. */
export type RestartPauses = {
  firstMs: number
  mostMs: number
  /** After a worker that lived this long, the pauses begin with `firstMs` again. */
  steadyMs: number
}

const usualPauses: RestartPauses = { firstMs: 1_000, mostMs: 30_000, steadyMs: 60_000 }
const workerEntry = fileURLToPath(new URL('../../services/worker/main.ts', import.meta.url))
const stopMs = 6_000
const deathsAllowed = 5
const withinMs = 60_000
const outputChars = 8_000

/** Leaves the other half of the cores to Redis, S3 and the other services. */
export function defaultWorkers(): number {
  return Math.max(1, Math.floor(availableParallelism() / 2))
}

export type WorkerPoolOptions = {
  count: number
  env: Env
  log: StackLog
  say(line: string): void
  pauses?: RestartPauses | undefined
  /** The program of a worker; it sends its parent a message, `CameUp`, when it has come up. */
  entry?: string
}

const CameUp = z.object({ healthPort: z.int() })

type Pool = {
  options: WorkerPoolOptions
  living: Map<ChildProcess, number | undefined>
  restarts: Set<() => void>
  hasComeUp: boolean
  earlyDeaths: number[]
  isStopping: boolean
  fail(error: AppError): void
}

/**
 * Starts `count` workers, and each that dies again after a growing pause. While none has come up there is no pause, and
 * the sixth death within a minute ends it: such workers cannot start at all. Workers end with this process, however it
 * ends; Ctrl-C in the terminal reaches them only through `stop`.
 */
export function startWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => {}) // it may not be awaited yet
  const pool: Pool = {
    options,
    living: new Map(),
    restarts: new Set(),
    hasComeUp: false,
    earlyDeaths: [],
    isStopping: false,
    fail: failure.reject,
  }
  const first = Array.from({ length: options.count }, () => startWorker(pool, 0))
  return {
    workers: () => [...pool.living].flatMap(([{ pid }, healthPort]) => (pid === undefined ? [] : { pid, healthPort })),
    begun: Promise.all(first),
    failed: failure.promise,
    stop: () => stopAll(pool),
  }
}

/** Resolves when the worker has come up, or died. `deaths` counts those that died in a row before it. */
function startWorker(pool: Pool, deaths: number): Promise<void> {
  const begun = Promise.withResolvers<void>()
  const { env, log, entry = workerEntry, pauses = usualPauses } = pool.options
  const child = fork(entry, [], {
    env: { ...env },
    execArgv: lastingFlags,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const startedAt = performance.now()
  pool.living.set(child, undefined)
  let output = ''
  let isCut = false
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log.write(text)
    const all = output + text
    isCut ||= all.length > outputChars
    output = all.slice(-outputChars)
  })
  child.once('message', (message) => {
    pool.hasComeUp = true
    if (pool.living.has(child)) pool.living.set(child, CameUp.safeParse(message).data?.healthPort)
    begun.resolve()
  })
  child.on('error', (error) => (output = error.message))
  child.on('close', (code, signal) => {
    pool.living.delete(child)
    begun.resolve()
    if (pool.isStopping) return
    const words = lastWords(isCut ? output.replace(partOfLine, '') : output)
    const death = { pid: child.pid, cause: `${signal ?? `exit code ${code}`}${words === '' ? '' : `: ${words}`}` }
    const isSteady = performance.now() - startedAt >= pauses.steadyMs
    if (pool.hasComeUp) restartLater(pool, death, isSteady ? 1 : deaths + 1)
    else restartOrFail(pool, death)
  })
  return begun.promise
}

type Death = { pid: number | undefined; cause: string }

function restartLater(pool: Pool, { pid, cause }: Death, deaths: number): void {
  const { log, say, pauses = usualPauses } = pool.options
  const pauseMs = Math.min(pauses.mostMs, pauses.firstMs * 2 ** (deaths - 1))
  log.entry.warn('worker process ended', { pid, cause, deaths, restart_in_ms: pauseMs })
  say(`worker process ${pid} ended with ${cause}; another starts in ${pauseMs / 1000} s`)
  const cancel = after(pauseMs, () => {
    pool.restarts.delete(cancel)
    void startWorker(pool, deaths)
  })
  pool.restarts.add(cancel)
}

function restartOrFail(pool: Pool, { pid, cause }: Death): void {
  const now = performance.now()
  pool.earlyDeaths = [...pool.earlyDeaths.filter((at) => now - at < withinMs), now]
  const deaths = pool.earlyDeaths.length
  pool.options.log.entry.warn('worker process ended', { pid, cause, deaths })
  if (deaths <= deathsAllowed) {
    void startWorker(pool, 0)
    return
  }
  const message = `worker processes ended ${deaths} times within a minute, the last with ${cause}`
  pool.fail(new AppError('CONFIG_006', message))
}

async function stopAll(pool: Pool): Promise<void> {
  pool.isStopping = true
  for (const cancel of pool.restarts) cancel()
  await Promise.all(
    [...pool.living.keys()].map(async (child) => {
      const ended = once(child, 'close')
      child.kill('SIGTERM')
      const cancelKill = after(stopMs, () => child.kill('SIGKILL'))
      await ended
      cancelKill()
    }),
  )
}

const ErrorEntry = z.object({
  level: z.literal('error'),
  message: z.string(),
  error: z.object({ message: z.string() }).optional().catch(undefined),
})

const longest = 300
/** Matches the line of a Node stack trace that says what was thrown: `AppError: …`, `TypeError [ERR_X]: …`. */
const thrown = /^(?:\w*Error|\w*Exception)(?: \[\w+\])?: /

/** Matches the first line of an output whose beginning is not kept: it is only a part of a line. */
const partOfLine = /^.*(?:\n|$)/
const prettyLog = /^\d\d:\d\d:\d\d\.\d{3} {2}(?<level>\w+) +(?<rest>.*)/

/** Returns what was thrown, else the last log line of level error, else the first line that is no log, else nothing. */
export function lastWords(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '')
  const words = lines.findLast((line) => thrown.test(line)) ?? loggedError(lines) ?? lines.find((line) => !isLog(line))
  return (words ?? '').trim().slice(0, longest)
}

function loggedError(lines: readonly string[]): string | undefined {
  for (const line of lines.toReversed()) {
    const { level, rest } = prettyLog.exec(line)?.groups ?? {}
    if (level === 'error') return rest
    if (!isLog(line)) continue
    const entry = ErrorEntry.safeParse(parseJson(line))
    if (!entry.success) continue
    const { message, error } = entry.data
    return error === undefined ? message : `${message}: ${error.message}`
  }
  return undefined
}

function isLog(line: string): boolean {
  return line.startsWith('{"time":') || prettyLog.test(line)
}
