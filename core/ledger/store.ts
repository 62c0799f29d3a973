import { z, ZodError } from 'zod'
import { isRefusal, type RedisClient, replyKind } from '#platform/redis-client.ts'
import type { EventOrigin } from '#domain/event.ts'
import { AppError } from '#domain/error.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import type { EventArchive } from './stored-events.ts'

export type LedgerStore = {
  redis: RedisClient
  namespace: string
  leaseMs: number
  /** The origin of events that the ledger reports for this process (queued, started, retried, ended …). */
  origin: EventOrigin
  archive: EventArchive | undefined
  /** For what users and other programs read: events and results. States and outcomes keep their bytes. */
  redactor: Redactor
}

/** Runs `work`; throws STORE_001 when Redis is unreachable or cannot work now. Errors of our own code stay as they are. */
export async function orStoreError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (isOurs(error)) throw error
    throw new AppError('STORE_001', 'Redis cannot be reached or cannot take writes.', { cause: error })
  }
}

/** Makes commands of `store` callable without it; their errors are those of `orStoreError`. */
export function bindTo<Store>(store: Store) {
  return <Args extends unknown[], Answer>(command: (store: Store, ...args: Args) => Promise<Answer>) =>
    (...args: Args): Promise<Answer> =>
      orStoreError(command(store, ...args))
}

/** ioredis has no error class for a lost connection, so errors that our own code may cause are recognised instead. */
function isOurs(error: unknown): boolean {
  const ourKinds = [AppError, ZodError, RangeError, SyntaxError, TypeError]
  if (ourKinds.some((kind) => error instanceof kind)) return true
  return replyKind(error) !== undefined && !isRefusal(error)
}

/** Milliseconds since the epoch by Redis' clock. */
export async function redisNowMs(redis: LedgerStore['redis']): Promise<number> {
  const [seconds, microseconds] = z.tuple([z.coerce.number(), z.coerce.number()]).parse(await redis.time())
  return Math.floor(seconds * 1000 + microseconds / 1000)
}
