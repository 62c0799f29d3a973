import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { after } from '#platform/clock.ts'
import { isReply, type RedisClient, redisScript } from '#platform/redis-client.ts'
import { type Log, redisName, type StoreLog } from '#platform/log.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { openLeasedSlots, type LeasedSlots } from './leased-slots.ts'
import type { SlotSource } from './slots.ts'

const script = redisScript(readFileSync(new URL('./shared-slots.lua', import.meta.url), 'utf8'))
const count = z.int().min(0)
const Grants = z.tuple([count, z.array(z.tuple([count, count, count]))])

const reportsPerLease = { renew: 12, ask: 24 }
/** Redis is unreachable after so many checks without an answer; a busy process still reads a late answer between two checks. */
const answerLimit = { checks: 10, checkMs: 100 }

export type SharedSlotsOptions = {
  redis: RedisClient
  holder: string
  namespace?: string
  /** The slots of a process that died are kept from the others for so long; it is the same in all processes. */
  leaseMs?: number
  log: StoreLog & Pick<Log, 'warn'>
}

const defaultLeaseMs = 6000

/**
 * Shares the slots at servers among all processes through Redis. They are leased, kept between requests, renewed by one command
 * for all servers, and given back when unused or more than an even share. A request costs no command. Of a pause the others
 * learn within half a second. Without Redis every process continues with its slots, at least one.
 */
export function openSharedSlots(options: SharedSlotsOptions): SlotSource {
  const servers = new Map<string, LeasedSlots>()
  const holder = `${options.holder}.${randomBytes(4).toString('hex')}`
  let listener = () => {}
  const lease = { servers, leaseMs: defaultLeaseMs, ...options, holder, onChange: () => listener() }
  const { ask, close } = openRounds(lease, openReporter(lease))
  return {
    at: (server, most) => getOrMake(servers, server, () => openLeasedSlots({ most, ask })),
    listen(given) {
      listener = given
    },
    close,
  }
}

type Lease = Omit<SharedSlotsOptions, 'leaseMs'> & {
  servers: ReadonlyMap<string, LeasedSlots>
  leaseMs: number
  onChange(): void
}

function openReporter({ redis, holder, namespace = 'remora', leaseMs, log, servers, onChange }: Lease) {
  let isUnreachable = false
  /** Redis' clock is so far ahead of this process's. */
  let aheadMs: number | undefined
  const setUnreachable = (now: boolean, error?: unknown) => {
    if (now === isUnreachable) return
    isUnreachable = now
    for (const leased of servers.values()) leased.setUnreachable(now)
    if (!now) log.working(redisName, servers)
    else if (isReply(error, 'ERR')) log.warn('slots at model servers cannot be shared', { error })
    else log.failing(redisName, servers, error)
  }
  const report = async (): Promise<void> => {
    const active = [...servers].filter(([, leased]) => leased.isActive())
    if (active.length === 0) return
    const keys = active.map(([server]) => `${namespace}:{slots}:${server}`)
    const reports = active.flatMap(([, leased]) => {
      const { most, held, demand, hasReported, pauseLeftMs } = leased.report()
      // By the clock of Redis, so that the report may be sent twice.
      const pausedUntil = pauseLeftMs > 0 && aheadMs !== undefined ? performance.now() + aheadMs + pauseLeftMs : 0
      return [most, held, demand, hasReported ? 1 : 0, Math.round(pausedUntil)]
    })
    const stopLimit = afterChecks(() => {
      setUnreachable(true, new Error('Redis does not answer'))
      onChange()
    })
    const askedAt = performance.now()
    try {
      const [now, grants] = Grants.parse(await script(redis, keys, [holder, leaseMs, ...reports]))
      aheadMs = now - askedAt // not less than it is, so that no pause ends early elsewhere
      for (const [at, [, leased]] of active.entries()) {
        const [held, keep, pauseLeftMs] = grants[at] ?? [0, 0, 0]
        leased.grant({ held, keep, pauseLeftMs })
      }
      setUnreachable(false)
    } catch (error) {
      setUnreachable(true, error)
    } finally {
      stopLimit()
    }
  }
  return { report, isUnreachable: () => isUnreachable }
}

function openRounds({ servers, leaseMs, onChange }: Lease, { report, isUnreachable }: ReturnType<typeof openReporter>) {
  let round: Promise<void> | undefined
  let cancelNext: (() => void) | undefined
  let isClosed = false
  const ask = () => {
    if (isClosed || round !== undefined) return
    cancelNext?.()
    // In a microtask, so that all requests that want slots now are in one report.
    round = Promise.resolve().then(reportNow)
  }
  const reportNow = async () => {
    await report()
    round = undefined
    scheduleNext()
    onChange()
  }
  const scheduleNext = () => {
    const all = [...servers.values()]
    if (isClosed || !all.some((leased) => leased.isActive())) return
    if (!isUnreachable() && all.some((leased) => leased.hasNews())) return ask()
    const isWanted = all.some((leased) => leased.isWanted())
    const times = isWanted && !isUnreachable() ? reportsPerLease.ask : reportsPerLease.renew
    cancelNext = after(leaseMs / times, () => {
      for (const leased of all) leased.mayAsk()
      ask()
    })
  }
  return {
    ask,
    /** Gives everything back, if Redis answers soon. */
    async close() {
      isClosed = true
      cancelNext?.()
      for (const leased of servers.values()) leased.drop()
      const limit = Promise.withResolvers<void>()
      const stopLimit = afterChecks(limit.resolve)
      await Promise.race([Promise.resolve(round).then(report), limit.promise])
      stopLimit()
    },
  }
}

function afterChecks(work: () => void): () => void {
  let cancel = () => {}
  const check = (left: number) => {
    if (left === 0) work()
    else cancel = after(answerLimit.checkMs, () => check(left - 1))
  }
  check(answerLimit.checks)
  return () => cancel()
}
