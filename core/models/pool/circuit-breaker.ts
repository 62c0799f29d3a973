import { unreachable } from '#domain/unreachable.ts'

/**
 * closed: the server is asked. open: it failed several times in a row and is left alone for a pause. half_open: the pause
 * is over and one request is finding out; when it fails, the next pause is longer.
 */
export type BreakerState = 'closed' | 'open' | 'half_open'

/**
 * Whether a request has failed at the server before. One that has says nothing new when it fails again, as it may be the
 * request's own fault: it counts once, and others go first to find out.
 */
export type Candidate = 'fresh' | 'failed_here'

export type CircuitBreaker = {
  state(): BreakerState
  /** Whether a request may be sent now. */
  admits(who?: Candidate): boolean
  /** A request is sent; true when it is the one that finds out. */
  enter(): boolean
  /** The server answered, whatever it said. */
  succeed(): void
  fail(who?: Candidate): void
  /** The server seems well: when it is left alone, one may find out now. */
  endPause(): void
  /** The request that was to find out has been taken back: another may. */
  withdraw(): void
  /** Until `admits()` may change by itself; 0 when it may not. */
  pauseLeftMs(): number
}

export type BreakerOptions = { now(): number; random(): number }

const failuresInARow = 5
const pauseMs = { first: 1000, most: 30_000 }
/** So long those that have not failed there are let in first, after a pause. */
const freshFirstMs = 1000

export function openCircuitBreaker({ now, random }: BreakerOptions): CircuitBreaker {
  let state: BreakerState = 'closed'
  let failures = 0
  let pauses = 0
  let openUntil = 0
  const open = () => {
    pauses += 1
    openAgain()
  }
  const openAgain = () => {
    const step = Math.min(pauseMs.most, pauseMs.first * 2 ** (pauses - 1))
    // Half of it by chance: workers that lost a server together do not come back to it together.
    openUntil = now() + step / 2 + (random() * step) / 2
    state = 'open'
  }
  return {
    state: () => state,
    admits(who = 'fresh') {
      if (state === 'closed') return true
      return state === 'open' && now() >= openUntil + (who === 'fresh' ? 0 : freshFirstMs)
    },
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
    fail(who = 'fresh') {
      switch (state) {
        case 'closed':
          if (who === 'failed_here') return
          failures += 1
          if (failures >= failuresInARow) open()
          return
        case 'half_open':
          return who === 'fresh' ? open() : openAgain()
        case 'open': // sent before it opened: says nothing new
          return
        default:
          return unreachable(state)
      }
    },
    withdraw() {
      if (state === 'half_open') state = 'open'
    },
    endPause() {
      if (state === 'open') openUntil = Math.min(openUntil, now())
    },
    pauseLeftMs() {
      const changes = state === 'open' ? [openUntil, openUntil + freshFirstMs] : []
      return changes.map((at) => at - now()).find((leftMs) => leftMs > 0) ?? 0
    },
  }
}
