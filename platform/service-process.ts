import { inspect } from 'node:util'
import { AppError } from '#domain/error.ts'
import { after } from './clock.ts'
import type { Env } from './env.ts'
import type { Log, Logging } from './log.ts'
import { openRedactor, type Redactor } from './secrets/redactor.ts'

/** `writeLog` takes the lines of its threads, which write to stderr without it. `placeOf` says where a setting was given. */
export type ServiceDeps = {
  log: Log
  redactor: Redactor
  writeLog?: (lines: string) => void
  placeOf?: (key: readonly string[]) => string
}

export type BegunService = { healthPort: number; close(): Promise<void> }

/** A service as it is started in a process of its own, and in that of a stack. */
export type Service<Config, Begun extends BegunService> = {
  name: string
  /** Names what the settings may lack without which it must not start. */
  refuses?: 'keyFault' | 'pathsFault'
  /** CONFIG_003 names every variable that is missing or wrong. `instance`: its name in the log; `closeMs`: how long it may take to close. */
  parseConfig(env: Env): {
    config: Config
    logging: Logging
    secrets: readonly string[]
    instance?: string
    closeMs?: number
  }
  start(config: Config, deps: ServiceDeps): Promise<Begun>
}

type Closing = { name: string; close: () => Promise<void> }

export type Releaser = { add(name: string, close: () => Promise<void>): void; release(): Promise<void> }

/** Closes what was opened, last first, each once and despite failures; then throws the first failure. */
export function openReleaser(): Releaser {
  const open: Closing[] = []
  return {
    add: (name, close) => void open.push({ name, close }),
    async release() {
      const failures: unknown[] = []
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        await next.close().catch((error: unknown) => failures.push(error))
      }
      if (failures.length > 0) throw failures[0]
    },
  }
}

/** A start may wait for a store that is away: after a signal it gets this much more time. */
const startLimitMs = 5_000

/**
 * Closes the service on the first SIGTERM or SIGINT, also while it starts, and exits 0. A close that fails or takes longer than
 * `limitMs` exits 1, a start that has not ended after 5 s exits 0, and a second signal that is no echo exits with 130.
 */
export function exitOnSignal(starting: Promise<{ close(): Promise<void> }>, limitMs = 30_000): void {
  const judge = openSignalFilter()
  const close = async () => {
    const stopWaiting = after(startLimitMs, () => process.exit(0))
    const service = await starting
    stopWaiting()
    await service.close()
  }
  const stop = () => {
    const signal = judge()
    if (signal === 'again') process.exit(130)
    if (signal === 'echo') return
    after(limitMs, () => process.exit(1))
    close().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.removeAllListeners(signal) // that of scripts/service.mjs
    process.on(signal, stop)
  }
}

/** Ends this process, after `close`, once its parent has ended (also before this call): no orphan is left. */
export function stopWithParent(close: () => Promise<void>): void {
  if (process.send === undefined) return
  const end = () => void close().finally(() => process.exit(0))
  if (process.connected) process.once('disconnect', end)
  else end()
}

/** An AppError becomes one line on stderr and exit code 1. So does a bug, with its stack, without the secrets in it. */
export async function runService<T>(main: () => Promise<T>): Promise<T> {
  process.setUncaughtExceptionCaptureCallback(endWith)
  return main().catch(endWith)
}

function endWith(error: unknown): never {
  const text = error instanceof AppError ? `${error.code} ${error.message}` : inspect(error)
  process.stderr.write(`${openRedactor().text(text)}\n`)
  process.exit(1)
}

const echoMs = 500

/** `echo` comes within half a second of the first, as npx, a terminal, a process group and own-node.mjs pass it on. */
export function openSignalFilter(): () => 'first' | 'echo' | 'again' {
  let firstAt: number | undefined
  return () => {
    if (firstAt !== undefined) return performance.now() - firstAt > echoMs ? 'again' : 'echo'
    firstAt = performance.now()
    return 'first'
  }
}
