import { hostname } from 'node:os'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { type Clock, systemClock } from './clock.ts'
import { withoutLogins } from './hide-secrets.ts'
import { openRedactor, type Redactor } from './secrets/redactor.ts'

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]
export type LogFields = Record<string, unknown>

/** `json`: one document on each line, for programs. `pretty`: one line for people, and the stack of an error below it. */
export const logFormats = ['json', 'pretty'] as const
export type LogFormat = (typeof logFormats)[number]

export type Log = {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /**
   * Notes that `part` cannot use a store: a process, or one kind of request. The log has one line when the first part fails, one
   * a minute while any does, and one when all have worked for 10 s, or nothing has failed for 5 min.
   */
  failing(store: string, part: object, error: unknown): void
  /** Notes that `part` can use the store: nothing is logged unless it was failing. */
  working(store: string, part: object): void
  /** Is true while an outage of the store goes on in this process, of whichever part. */
  isFailing(store: string): boolean
}

export const redisName = 'Redis'
export const objectStoreName = 'the object store'

/** Returns the store that cannot be used, where this is why something failed. What we decide ourselves, as of a lost lease, has no cause. */
export function storeAtFault(error: unknown): string | undefined {
  if (!(error instanceof AppError) || error.cause === undefined) return undefined
  if (error.code === 'STORE_001') return redisName
  return error.code === 'STORE_002' ? objectStoreName : undefined
}

export type StoreLog = Pick<Log, 'failing' | 'working'>

/** Stands for a part of this process that does its work again when a store kept it from it: a loop, or a queue. */
export type StoreUser = {
  /** Is true when an error is due to a store. It then counts for the lines of that outage, and needs none of its own. */
  failed(error: unknown): boolean
  /** Counts an error for an outage of `store`. */
  lacks(store: string, error: unknown): void
  /** Notes that the work was done: the stores that had kept it from it can be used. */
  worked(): void
}

export function openStoreUser(log: StoreLog): StoreUser {
  const [part, lacking] = [{}, new Set<string>()]
  const lacks = (store: string, error: unknown) => {
    lacking.add(store)
    log.failing(store, part, error)
  }
  return {
    lacks,
    failed(error) {
      const store = storeAtFault(error)
      if (store !== undefined) lacks(store, error)
      return store !== undefined
    },
    worked() {
      for (const store of lacking) log.working(store, part)
      lacking.clear()
    },
  }
}

export type Logging = {
  level: LogLevel
  format?: LogFormat | undefined
}

export type LogOptions = Logging & {
  service: string
  instance?: string
  /** Hides the secrets of a line; without it, those that can be recognised. Logins of addresses never appear either. */
  redactor?: Redactor
  write?: (line: string) => void
  clock?: Pick<Clock, 'now' | 'after'>
}

/** Opens a log that writes to stderr by default, so that stdout only has the program's result. */
export function openLog(options: LogOptions): Log {
  const least = logLevels.indexOf(options.level)
  const { service, instance, format, redactor = openRedactor() } = options
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (logLevels.indexOf(level) < least) return
    const entry = { time: new Date().toISOString(), level, service, instance, message, ...fields }
    const line = redactor.json(JSON.stringify(entry, plainValue))
    write(`${format === 'pretty' ? prettyLine(line) : line}\n`)
  }
  const outages = openOutages(at('warn'), options.clock ?? systemClock)
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), ...outages }
}

export function processName(): string {
  return `${hostname()}-${process.pid}`
}

export const silentLog = openLog({ service: 'silent', level: 'silent' })

const outageLineMs = 60_000
/** A store that fails again within this time has not worked in between. */
const calmMs = 10_000
/** A part that failed so long ago may not have been used since: the others that work speak for it. */
const forgottenMs = 60_000
/** Is longer than any part that still needs the store waits until it tries again. */
const quietMs = 300_000

type Outage = {
  since: number
  saidAt: number
  failures: number
  parts: Set<object>
  /** Says since when nothing has failed and something has worked. */
  worksSince: number | undefined
  cancelEnd: () => void
}

function openOutages(warn: Log['warn'], clock: Pick<Clock, 'now' | 'after'>): StoreLog & Pick<Log, 'isFailing'> {
  const outages = new Map<string, Outage>()
  const end = (store: string, message: string, { since, failures }: Outage, at: number) => {
    outages.delete(store)
    warn(message, { after_ms: Math.round(at - since), failures })
  }
  return {
    isFailing: (store) => outages.has(store),
    failing(store, part, error) {
      const at = clock.now()
      const outage = outages.get(store) ?? newOutage(at)
      outage.failures += 1
      outage.parts.add(part)
      outage.cancelEnd()
      const quiet = `no failure of ${store} for ${quietMs / 60_000} minutes`
      outage.cancelEnd = clock.after(quietMs, () => end(store, quiet, outage, at))
      outage.worksSince = undefined
      if (!outages.has(store)) warn(`${store} cannot be used`, { error })
      else if (at - outage.saidAt >= outageLineMs) {
        outage.saidAt = at
        warn(`${store} still cannot be used`, {
          for_ms: Math.round(at - outage.since),
          failures: outage.failures,
          error,
        })
      }
      outages.set(store, outage)
    },
    working(store, part) {
      const outage = outages.get(store)
      if (outage === undefined) return
      const wasLast = outage.parts.delete(part) && outage.parts.size === 0
      if (outage.worksSince !== undefined && !wasLast) return
      const at = (outage.worksSince ??= clock.now())
      const works = () => end(store, `${store} can be used again`, outage, at)
      outage.cancelEnd()
      outage.cancelEnd = clock.after(wasLast ? calmMs : forgottenMs, works)
    },
  }
}

function newOutage(at: number): Outage {
  return { since: at, saidAt: at, failures: 0, parts: new Set(), worksSince: undefined, cancelEnd: () => {} }
}

function plainValue(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return withoutLogins(value)
  if (!(value instanceof Error)) return value
  const code = 'code' in value ? { code: value.code } : {}
  return { name: value.name, message: value.message, ...code, stack: value.stack, cause: value.cause }
}

const Entry = z.looseObject({ time: z.string(), level: z.string(), service: z.string(), message: z.string() })
const LoggedError = z.looseObject({ message: z.string(), stack: z.string().optional() })

function prettyLine(json: string): string {
  const { time, level, service, instance, message, ...fields } = Entry.parse(JSON.parse(json))
  const stacks: string[] = []
  const words = Object.entries(fields).map(([name, value]) => {
    const error = LoggedError.safeParse(value)
    if (!error.success)
      return `${name}=${typeof value === 'string' && !/[\s"=]/.test(value) ? value : JSON.stringify(value)}`
    stacks.push(`\n${error.data.stack ?? error.data.message}`)
    return `${name}=${JSON.stringify(error.data.message)}`
  })
  const who = typeof instance === 'string' ? instance : service
  const clockTime = time.slice('2026-01-01T'.length, -1)
  return `${[clockTime, level.padEnd(5), who, message, ...words].join('  ')}${stacks.join('')}`
}
