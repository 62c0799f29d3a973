/** While it is open the server gets no request for a pause; then it is half open while one request, the probe, is under way. */
export type BreakerState = 'closed' | 'open' | 'half_open'

/** Says whether a request has failed there before: failing again may be its own fault, and counts once; others probe first. */
export type Candidate = 'fresh' | 'failed_here'

export type CircuitBreaker = ReturnType<typeof openCircuitBreaker>

type BreakerOptions = {
  now(): number
  random(): number
  onChange?(change: 'opened' | 'closed'): void
}

const failuresInARow = 5
const pauseMs = { first: 1000, most: 30_000 }
/** Only a request that has not failed there may be the probe for so long after a pause. */
const freshFirstMs = 1000

export function openCircuitBreaker(options: BreakerOptions) {
  const pause = openPause(options)
  let state: BreakerState = 'closed'
  let failures = 0
  const become = (next: 'open' | 'closed') => {
    const wasClosed = state === 'closed'
    state = next
    if (wasClosed !== (next === 'closed')) options.onChange?.(wasClosed ? 'opened' : 'closed')
  }
  const open = (isLonger: boolean) => {
    become('open')
    pause.begin({ isLonger })
  }
  return {
    state: () => state,
    admits: (candidate: Candidate = 'fresh') => state === 'closed' || (state === 'open' && pause.isOver(candidate)),
    enter(): boolean {
      if (state === 'closed') return false
      state = 'half_open'
      return true
    },
    succeed() {
      become('closed')
      failures = 0
      pause.reset()
    },
    fail(candidate: Candidate = 'fresh'): void {
      if (state === 'half_open') return open(candidate === 'fresh')
      // Sent before it opened, or counted before: proves nothing new.
      if (state === 'open' || candidate === 'failed_here') return
      failures += 1
      if (failures >= failuresInARow) open(true)
    },
    withdraw: () => void (state === 'half_open' && (state = 'open')),
    /** The server is silent: it gets no request for the longest pause, or until `endPause`. */
    hold() {
      become('open')
      pause.hold()
    },
    /** The server seems well: if the breaker is open, a probe may be sent now. */
    endPause() {
      if (state === 'open') pause.end()
    },
    /** Returns the time until `admits()` may change by itself; 0 when it may not. */
    pauseLeftMs: () => (state === 'open' ? pause.leftMs() : 0),
  }
}

function openPause({ now, random }: BreakerOptions) {
  let times = 0
  let until = 0
  return {
    begin({ isLonger }: { isLonger: boolean }) {
      if (isLonger) times += 1
      const step = Math.min(pauseMs.most, pauseMs.first * 2 ** (times - 1))
      // Half of it is random: workers that lost a server together do not come back to it together.
      until = now() + step / 2 + (random() * step) / 2
    },
    isOver: (candidate: Candidate) => now() >= until + (candidate === 'fresh' ? 0 : freshFirstMs),
    hold: () => void (until = now() + pauseMs.most),
    end: () => void (until = Math.min(until, now())),
    reset: () => void (times = 0),
    leftMs: () => [until, until + freshFirstMs].map((at) => at - now()).find((leftMs) => leftMs > 0) ?? 0,
  }
}
