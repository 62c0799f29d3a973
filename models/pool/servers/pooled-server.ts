import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { TryFailure } from '../../wire/try-failure.ts'
import type { ServerSlots } from '../slots/slots.ts'
import { openCircuitBreaker, type Candidate, type CircuitBreaker } from './circuit-breaker.ts'
import type { Endpoint } from './server-endpoint.ts'
import type { OfferedList } from './offered-models.ts'

export type PooledServer = {
  name: string
  endpoint: Endpoint
  offered: OfferedList
  limit: ConcurrencyLimit
  breaker: CircuitBreaker
  slots: ServerSlots
  inFlight(): number
  reserve(candidate?: Candidate): Reservation
}

/** Holds a slot for one request. Call `release` once, when the request is no longer there, then `report` once. */
export type Reservation = {
  server: PooledServer
  release(): void
  report(end: RequestEnd, retryAfterMs?: number): void
}

/**
 * Says how a request ended, as far as that judges the server. refused: the request was at fault; overloaded: 429, 529;
 * unavailable: 503; failed: no answer, a broken one or another 5xx; left: the pool or its caller gave up.
 */
export type RequestEnd = 'good' | 'refused' | 'overloaded' | 'unavailable' | 'failed' | 'left'

const breakerLines = {
  opened: 'a model server gets no requests: it failed several times in a row, or is silent',
  closed: 'a model server gets requests again',
}

const mostRetryAfterMs = 30_000

export function openPooledServer(
  options: Pick<PooledServer, 'endpoint' | 'offered' | 'slots'> & {
    maxInFlight: number
    clock: Clock
    random(): number
    log?: Pick<Log, 'warn'> | undefined
  },
): PooledServer {
  const { endpoint, offered, slots, maxInFlight, random, log, clock } = options
  const { now } = clock
  const limit = openConcurrencyLimit({ most: maxInFlight, now })
  const onChange = (change: keyof typeof breakerLines) => log?.warn(breakerLines[change], { server: endpoint.name })
  const breaker = openCircuitBreaker({ now, random, onChange })
  let inFlight = 0
  const server: PooledServer = {
    name: endpoint.name,
    endpoint,
    offered,
    limit,
    breaker,
    slots,
    inFlight: () => inFlight,
    reserve(candidate) {
      const sentAt = now()
      const isProbe = breaker.enter()
      inFlight += 1
      const inFlightWhenSent = inFlight
      return {
        server,
        release() {
          inFlight -= 1
          slots.give()
        },
        report(end, retryAfterMs = 0) {
          if (retryAfterMs > 0) slots.pause(Math.min(retryAfterMs, mostRetryAfterMs))
          // Requests sent at the same time may have been refused and released before this one.
          const inFlightThen = Math.max(inFlightWhenSent, inFlight + 1)
          if (end === 'overloaded' || end === 'unavailable') limit.cut(sentAt, { inFlight: inFlightThen })
          if (end === 'good') limit.grow()
          if (end === 'failed' || end === 'unavailable') breaker.fail(candidate)
          else if (end !== 'left') breaker.succeed()
          else if (isProbe) breaker.withdraw()
        },
      }
    },
  }
  return server
}

export function requestEndOf({ error, status }: TryFailure): RequestEnd {
  if (status === 429 || status === 529) return 'overloaded'
  if (status === 503) return 'unavailable'
  if (status !== undefined) return status >= 500 ? 'failed' : 'refused'
  return error.code === 'AGENT_007' ? 'refused' : 'failed'
}

type ConcurrencyLimit = ReturnType<typeof openConcurrencyLimit>

const fewInFlight = 4

/** A limit grows by one per round of good answers, and is cut after overload. */
export function openConcurrencyLimit({ most, now }: { most: number; now(): number }) {
  let limit = most
  let credit = 0
  let cutAt = -Infinity
  let isRestarting = false
  return {
    current: () => limit,
    grow(): void {
      if (limit === most) return
      credit += 1
      if (credit < limit && !isRestarting) return
      credit = 0
      limit += 1
      if (limit === most) isRestarting = false
    },
    /** The server is back after an outage: begins with a few requests, and doubles them with every round of good answers. */
    restart(): void {
      limit = Math.min(limit, fewInFlight)
      isRestarting = limit < most
    },
    /**
     * Cuts to half of `inFlight` or of the limit after a refusal for overload; once for what was sent before the last cut. With
     * fewer than four in flight the limit counts, since the refusal says nothing then.
     */
    cut(sentAt: number, { inFlight = Infinity } = {}): void {
      if (sentAt < cutAt) return
      isRestarting = false
      const met = inFlight < fewInFlight ? limit : Math.min(limit, inFlight)
      limit = Math.max(1, Math.floor(met / 2))
      credit = 0
      cutAt = now()
    },
  }
}
