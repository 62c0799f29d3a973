import type { Clock } from '#platform/clock.ts'
import { openCircuitBreaker, type Candidate, type CircuitBreaker } from './circuit-breaker.ts'
import { openConcurrencyLimit, type ConcurrencyLimit } from './concurrency-limit.ts'
import type { Endpoint } from './endpoint.ts'
import type { OfferedList } from './offered-list.ts'
import type { Places } from '../places/places.ts'

/**
 * How a request ended, as far as it tells of the server. good: answered; refused: answered, and it was the request's own
 * fault; overloaded: 429, 529; unavailable: 503, which is both overload and failure; failed: no answer, a broken one or
 * another 5xx; left: given up from here.
 */
export type SeatEnd = 'good' | 'refused' | 'overloaded' | 'unavailable' | 'failed' | 'left'

/** What the pool knows of one server, and what it has there now. */
export type Replica = {
  /** The server's URL. */
  name: string
  endpoint: Endpoint
  offered: OfferedList
  limit: ConcurrencyLimit
  breaker: CircuitBreaker
  places: Places
  inFlight(): number
  /** A place at `places` has been taken for a request, which is sent now. */
  enter(who?: Candidate): Visit
}

/** Each is called once, in this order. */
export type Visit = {
  /** The request is no longer at the server. */
  vacate(): void
  tell(end: SeatEnd): void
}

export type ReplicaOptions = {
  endpoint: Endpoint
  offered: OfferedList
  places: Places
  /** Of this process. */
  maxInFlight: number
  clock: Clock
  random(): number
}

export function openReplica(options: ReplicaOptions): Replica {
  const { endpoint, offered, places, maxInFlight, random } = options
  const { now } = options.clock
  const limit = openConcurrencyLimit({ most: maxInFlight, now })
  const breaker = openCircuitBreaker({ now, random })
  let inFlight = 0
  return {
    name: endpoint.name,
    endpoint,
    offered,
    limit,
    breaker,
    places,
    inFlight: () => inFlight,
    enter(who) {
      const sentAt = now()
      const findsOut = breaker.enter()
      inFlight += 1
      const sentAs = inFlight
      return {
        vacate() {
          inFlight -= 1
          places.give()
        },
        tell(end) {
          // More than it leaves behind where others of its time were refused before it.
          const met = Math.max(sentAs, inFlight + 1)
          if (end === 'overloaded' || end === 'unavailable') limit.cut(sentAt, { inFlight: met })
          if (end === 'good') limit.grow()
          if (end === 'failed' || end === 'unavailable') breaker.fail(who)
          else if (end !== 'left') breaker.succeed()
          else if (findsOut) breaker.withdraw()
        },
      }
    },
  }
}
