import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { after } from '#platform/clock.ts'
import type { RedisClient } from '#platform/connect-redis.ts'
import type { Log } from '#platform/log.ts'
import { redisScript } from '#platform/redis-script.ts'
import { openHeldPlaces, type HeldPlaces } from './held-places.ts'
import type { PlaceKeeper } from './places.ts'

const script = redisScript(readFileSync(new URL('./shared-places.lua', import.meta.url), 'utf8'))
const Answer = z.array(z.tuple([z.int().min(0), z.int().min(0)]))

/** How often a process speaks in the time of a lease: to renew it, and while it or another wants places. */
const perLease = { renew: 12, ask: 24 }
/** After so many of these, Redis is away. A process that is too busy to hear its answer hears it between two of them. */
const patience = { looks: 10, lookMs: 100 }

export type SharedPlacesOptions = {
  redis: RedisClient
  /** A name for this process; two of one name are two holders all the same. */
  holder: string
  /** Of the keys. */
  namespace?: string
  /** How long the places of a process that is gone are kept from the others; the same in all. */
  leaseMs?: number
  log: Pick<Log, 'warn' | 'info'>
}

const defaultLeaseMs = 6000

/**
 * The places at servers, shared by all processes through Redis: what one takes is leased to it, kept from one request to
 * the next, renewed in one command for all servers, and given back when it is not used, or when it is more than an even
 * share and others wait. A request costs no command. While Redis is away, every process goes on with the places it has,
 * or with one.
 */
export function openSharedPlaces(options: SharedPlacesOptions): PlaceKeeper {
  const servers = new Map<string, HeldPlaces>()
  const holder = `${options.holder}.${randomBytes(4).toString('hex')}`
  let listener = () => {}
  const lease = { servers, leaseMs: defaultLeaseMs, ...options, holder, changed: () => listener() }
  const { ask, close } = openRounds(lease, openReport(lease))
  return {
    at(server, most) {
      const held = servers.get(server) ?? openHeldPlaces({ most, ask })
      servers.set(server, held)
      return held
    },
    listen(given) {
      listener = given
    },
    close,
  }
}

type Lease = Omit<SharedPlacesOptions, 'leaseMs'> & {
  servers: ReadonlyMap<string, HeldPlaces>
  leaseMs: number
  /** What may be taken may be another number now. */
  changed(): void
}

/** One command: tells Redis what is held and wanted here, and takes what it grants. Does not reject. */
function openReport({ redis, holder, namespace = 'remora', leaseMs, log, servers, changed }: Lease) {
  let isAway = false
  const setAway = (now: boolean, error?: unknown) => {
    if (now === isAway) return
    isAway = now
    for (const held of servers.values()) held.setAway(now)
    if (now) log.warn('places at model servers cannot be shared: going on with those of this process', { error })
    else log.info('places at model servers are shared again')
  }
  const report = async (): Promise<void> => {
    const active = [...servers].filter(([, held]) => held.isActive())
    if (active.length === 0) return
    const keys = active.map(([server]) => `${namespace}:{places}:${server}`)
    const told = active.flatMap(([, places]) => {
      const { most, held, demand, isKnown } = places.report()
      return [most, held, demand, isKnown ? 1 : 0]
    })
    const late = afterLooks(() => {
      setAway(true)
      changed()
    })
    try {
      const answers = Answer.parse(await script(redis, keys, [holder, leaseMs, ...told]))
      for (const [at, [, held]] of active.entries()) held.grant(...(answers[at] ?? [0, 0]))
      setAway(false)
    } catch (error) {
      setAway(true, error)
    } finally {
      late()
    }
  }
  return { report, isAway: () => isAway }
}

/** When to report: soon after places were asked for, and while there is something to renew or to want. */
function openRounds({ servers, leaseMs, changed }: Lease, { report, isAway }: ReturnType<typeof openReport>) {
  let trip: Promise<void> | undefined
  let cancel: (() => void) | undefined
  let closed = false
  const ask = () => {
    if (closed || trip !== undefined) return
    cancel?.()
    // Not at once: all that want places now are told of together.
    trip = Promise.resolve().then(travel)
  }
  const travel = async () => {
    await report()
    trip = undefined
    rest()
    changed()
  }
  const rest = () => {
    const all = [...servers.values()]
    if (closed || !all.some((held) => held.isActive())) return
    const isWanted = all.some((held) => held.isWanted())
    cancel = after(leaseMs / (isWanted && !isAway() ? perLease.ask : perLease.renew), () => {
      for (const held of all) held.mayAsk()
      ask()
    })
  }
  return {
    ask,
    /** Gives everything back, if Redis hears it soon. */
    async close() {
      closed = true
      cancel?.()
      for (const held of servers.values()) held.drop()
      const limit = Promise.withResolvers<void>()
      const late = afterLooks(limit.resolve)
      await Promise.race([Promise.resolve(trip).then(report), limit.promise])
      late()
    },
  }
}

function afterLooks(work: () => void): () => void {
  let cancel = () => {}
  const look = (left: number) => {
    if (left === 0) work()
    else cancel = after(patience.lookMs, () => look(left - 1))
  }
  look(patience.looks)
  return () => cancel()
}
