import type { RedisClient } from '#platform/connect-redis.ts'
import type { EventOrigin } from '#domain/event.ts'
import type { EventArchive } from './event-archive.ts'

/** What every command of the ledger works with. */
export type LedgerStore = {
  redis: RedisClient
  /** First part of every key; `remora` but in tests. */
  namespace: string
  leaseMs: number
  /** Who events are from that the ledger reports on behalf of this process (queued, started, retried, ended …). */
  origin: EventOrigin
  /** Undefined: events are read from the streams alone. */
  archive: EventArchive | undefined
}
