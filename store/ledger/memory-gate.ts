import { Cluster, type Redis } from 'ioredis'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { Log } from '#platform/log.ts'
import type { RedisClient } from '#platform/redis-client.ts'
import { orStoreError } from './store.ts'

/** Throws STORE_001 while Redis is too full for another run. */
export type MemoryGate = () => Promise<void>

/** Refuses new runs above `share` (0 to 1) of Redis' memory, and logs the start and the end of that. */
export function openMemoryGate(redis: RedisClient, share: number, log: Pick<Log, 'warn'>): MemoryGate {
  let isClosed = false
  return async () => {
    const used = await orStoreError(usedShare(redis))
    const wasClosed = isClosed
    isClosed = used > share
    if (wasClosed && !isClosed) log.warn('new runs are accepted again', { redis_used_percent: percent(used) })
    if (!isClosed) return
    const detail = `Redis uses ${percent(used)} % of its memory; no new run is accepted above ${percent(share)} %.`
    if (!wasClosed) log.warn(detail)
    throw new AppError('STORE_001', detail, { detail })
  }
}

/** The share of the fullest server: a run's keys are all on one, and which one is not known beforehand. */
export async function usedShare(redis: RedisClient): Promise<number> {
  return (await memoryOf(redis)).usedShare
}

export type RedisMemory = {
  usedBytes: number
  usedShare: number
  /** The `maxmemory-policy` of a server that drops keys when it is full; undefined where all refuse writes instead. */
  evictsBy: string | undefined
}

export async function memoryOf(redis: RedisClient): Promise<RedisMemory> {
  const masters = redis instanceof Cluster ? redis.nodes('master') : [redis]
  const reports = await Promise.all(masters.map(async (server) => figuresOf(await memoryInfo(server))))
  return {
    usedBytes: reports.reduce((sum, { used_memory: bytes }) => sum + bytes, 0),
    usedShare: Math.max(...reports.map(shareOf)),
    evictsBy: reports.map((report) => report.maxmemory_policy).find((policy) => policy !== 'noeviction'),
  }
}

/** ioredis 6 loses an INFO that fails while it still connects. A PING waits until the connection is ready. */
async function memoryInfo(server: Redis): Promise<string> {
  await server.ping()
  return server.info('memory')
}

const Figures = z.object({
  used_memory: z.coerce.number(),
  maxmemory: z.coerce.number(),
  maxmemory_policy: z.string().default('noeviction'),
  total_system_memory: z.coerce.number().default(0),
  /** Buffers that Redis leaves out when it decides whether to take a write. */
  mem_not_counted_for_evict: z.coerce.number().default(0),
})

/** Returns the used share of `maxmemory`, else of the machine's memory; in a container that is the host's, so set `maxmemory` there. */
function shareOf(figures: z.infer<typeof Figures>): number {
  const limit = figures.maxmemory > 0 ? figures.maxmemory : figures.total_system_memory
  return limit > 0 ? (figures.used_memory - figures.mem_not_counted_for_evict) / limit : 0
}

function figuresOf(report: string): z.infer<typeof Figures> {
  const fields = report.split('\r\n').map((line) => line.split(':'))
  return Figures.parse(
    Object.fromEntries(fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
  )
}

function percent(share: number): number {
  return Math.round(share * 100)
}
