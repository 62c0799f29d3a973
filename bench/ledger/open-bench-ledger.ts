import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import type { EventArchive } from '#ledger/event-archive.ts'
import { openLedger, type Ledger } from '#ledger/ledger.ts'
import { startLocalRedis } from '#platform/local-redis.ts'

export type BenchLedger = {
  ledger: Ledger
  redis: Redis
  /** Events and JSON bytes that went to the archive. */
  archived: { events: number; bytes: number }
  close(): Promise<void>
}

/** The ledger over a Redis of its own, empty and with the settings of the embedded one; it has an archive if asked. */
export async function openBenchLedger(options: { archive: boolean }): Promise<BenchLedger> {
  const dir = await mkdtemp(join(tmpdir(), 'remora-ledger-bench-'))
  const server = await startLocalRedis({ dir })
  const redis = new Redis(server.url)
  const archived = { events: 0, bytes: 0 }
  const origin = { kind: 'discovery', id: 'bench' } as const
  const ledger = openLedger(redis, { origin, ...(options.archive ? { archive: countingArchive(archived) } : {}) })
  return {
    ledger,
    redis,
    archived,
    async close() {
      redis.disconnect()
      await server.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Counts what it is given and keeps nothing: what an object store costs is not measured here. */
function countingArchive(counted: BenchLedger['archived']): EventArchive {
  return {
    async put(_segment, events) {
      counted.events += events.length
      counted.bytes += JSON.stringify(events).length
    },
    get: async () => undefined,
  }
}
