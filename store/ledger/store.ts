import { z } from 'zod'
import { isOwnError, type RedisClient } from '#platform/redis-client.ts'
import type { SpanRecorder } from '#domain/span.ts'
import type { EventOrigin } from '#domain/event.ts'
import { AppError } from '#domain/error.ts'
import type { Log } from '#platform/log.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import type { Signer } from '#platform/signer.ts'
import type { EventArchive } from './stored-events.ts'

export type LedgerStore = {
  redis: RedisClient
  namespace: string
  leaseMs: number
  /** The origin of events that the ledger reports for this process (queued, started, retried, ended …). */
  origin: EventOrigin
  archive: EventArchive | undefined
  /** Hides secrets in what users and other programs read: events and results. States and outcomes keep their bytes. */
  redactor: Redactor
  log: Pick<Log, 'info'>
  /** Signs what the API and the publisher leave for each other, and tells what somebody else has written; only these two have it. */
  signer?: Signer | undefined
  /** Has a span for every run that ends. */
  traces: SpanRecorder
}

/** Runs `work`; throws STORE_001 when Redis is unreachable or cannot work now. Errors of our own code stay as they are. */
export async function orStoreError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (isOwnError(error)) throw error
    throw new AppError('STORE_001', 'Redis cannot be reached or cannot take writes.', { cause: error })
  }
}

type Command<Store> = (store: Store, ...args: never[]) => Promise<unknown>
type Bound<Commands> = {
  [Name in keyof Commands]: Commands[Name] extends (store: never, ...args: infer Args) => infer Answer
    ? (...args: Args) => Answer
    : never
}

/** Makes commands of `store` callable without it; their errors are those of `orStoreError`. */
export function bindAll<Store, Commands extends Readonly<Record<string, Command<Store>>>>(
  store: Store,
  commands: Commands,
): Bound<Commands>
export function bindAll<Store>(store: Store, commands: Readonly<Record<string, Command<Store>>>): object {
  const bound = Object.entries(commands).map(([name, command]) => {
    return [name, (...args: never[]) => orStoreError(command(store, ...args))]
  })
  return Object.fromEntries(bound)
}

/** Returns milliseconds since the epoch by Redis' clock. */
export async function redisNowMs(redis: LedgerStore['redis']): Promise<number> {
  const [seconds, microseconds] = z.tuple([z.coerce.number(), z.coerce.number()]).parse(await redis.time())
  return Math.floor(seconds * 1000 + microseconds / 1000)
}
