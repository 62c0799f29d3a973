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

export function openCircuitBreaker(options: BreakerOptions): CircuitBreaker {
  const pause = openPause(options)
  let state: BreakerState = 'closed'
  let failures = 0
  const open = (isLonger: boolean) => {
    state = 'open'
    pause.begin({ isLonger })
  }
  return {
    state: () => state,
    admits: (who = 'fresh') => state === 'closed' || (state === 'open' && pause.isOver(who)),
    enter() {
      if (state === 'closed') return false
      state = 'half_open'
      return true
    },
    succeed() {
      state = 'closed'
      failures = 0
      pause.forget()
    },
    fail(who = 'fresh') {
      switch (state) {
        case 'closed':
          if (who === 'failed_here') return
          failures += 1
          if (failures >= failuresInARow) open(true)
          return
        case 'half_open':
          return open(who === 'fresh')
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
      if (state === 'open') pause.end()
    },
    pauseLeftMs: () => (state === 'open' ? pause.leftMs() : 0),
  }
}

/** Twice as long with every time it is begun longer, until it is forgotten. */
function openPause({ now, random }: BreakerOptions) {
  let times = 0
  let until = 0
  return {
    begin({ isLonger }: { isLonger: boolean }) {
      if (isLonger) times += 1
      const step = Math.min(pauseMs.most, pauseMs.first * 2 ** (times - 1))
      // Half of it by chance: workers that lost a server together do not come back to it together.
      until = now() + step / 2 + (random() * step) / 2
    },
    isOver: (who: Candidate) => now() >= until + (who === 'fresh' ? 0 : freshFirstMs),
    end: () => void (until = Math.min(until, now())),
    forget: () => void (times = 0),
    /** Until it is over for somebody else. */
    leftMs: () => [until, until + freshFirstMs].map((at) => at - now()).find((leftMs) => leftMs > 0) ?? 0,
  }
}
