import type { Redis } from 'ioredis'
import type { EventOrigin } from '#domain/event.ts'

/** What every command of the ledger works with. */
export type LedgerStore = {
  redis: Redis
  /** First part of every key; `remora` but in tests. */
  namespace: string
  leaseMs: number
  /** Who events are from that the ledger reports on behalf of this process (queued, started, retried, ended …). */
  origin: EventOrigin
}
