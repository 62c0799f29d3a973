import { unreachable } from '#domain/unreachable.ts'

/**
 * closed: the server is asked. open: it failed several times in a row and is left alone for a pause. half_open: the pause
 * is over and one request is finding out; when it fails, the next pause is longer.
 */
export type BreakerState = 'closed' | 'open' | 'half_open'

export type CircuitBreaker = {
  state(): BreakerState
  /** Whether a request may be sent now. */
  admits(): boolean
  /** A request is sent; true when it is the one that finds out. */
  enter(): boolean
  /** The server answered, whatever it said. */
  succeed(): void
  fail(): void
  /** The request that was to find out has been taken back: another may. */
  withdraw(): void
  /** Until `admits()` may change by itself; 0 when it may not. */
  pauseLeftMs(): number
}

export type BreakerOptions = { now(): number; random(): number }

const failuresInARow = 5
const pauseMs = { first: 1000, most: 30_000 }

export function openCircuitBreaker({ now, random }: BreakerOptions): CircuitBreaker {
  let state: BreakerState = 'closed'
  let failures = 0
  let pauses = 0
  let openUntil = 0
  const open = () => {
    const step = Math.min(pauseMs.most, pauseMs.first * 2 ** pauses)
    // Half of it by chance: workers that lost a server together do not come back to it together.
    openUntil = now() + step / 2 + (random() * step) / 2
    pauses += 1
    state = 'open'
  }
  return {
    state: () => state,
    admits: () => state === 'closed' || (state === 'open' && now() >= openUntil),
    enter() {
      if (state === 'closed') return false
      state = 'half_open'
      return true
    },
    succeed() {
      state = 'closed'
      failures = 0
      pauses = 0
    },
    fail() {
      switch (state) {
        case 'closed':
          failures += 1
          if (failures >= failuresInARow) open()
          return
        case 'half_open':
          return open()
        case 'open': // sent before it opened: says nothing new
          return
        default:
          return unreachable(state)
      }
    },
    withdraw() {
      if (state === 'half_open') state = 'open'
    },
    pauseLeftMs: () => (state === 'open' ? Math.max(0, openUntil - now()) : 0),
  }
}
