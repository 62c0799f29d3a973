import { z } from 'zod'

/** A moment of the load: when it was, and the request-milliseconds that had been in flight until then. */
const Mark = z.object({ atMs: z.number(), busyMs: z.number() })
type Mark = z.infer<typeof Mark>

/** What a server saw of its clients' concurrency since it was last asked. Times are its own `performance.now()`. */
export const ModelLoad = z.object({
  requests: z.int(),
  mostInFlight: z.int(),
  /** The first request; undefined when there was none. */
  first: Mark.optional(),
  /** The first request that found all slots but itself taken. */
  full: Mark.optional(),
  /** The last request of an agent's first turn: after it, slots run empty. */
  lastStart: Mark.optional(),
  /** The last answer. */
  last: Mark.optional(),
})
export type ModelLoad = z.infer<typeof ModelLoad>

export type LoadMeter = {
  /** `isFirstTurn`: the request begins an agent's work. */
  enter(isFirstTurn: boolean): void
  leave(): void
  take(): ModelLoad
}

/** Measures how many requests a server holds over time; `slots` are full load. */
export function openLoadMeter(slots: number, now: () => number = () => performance.now()): LoadMeter {
  let load: ModelLoad = { requests: 0, mostInFlight: 0 }
  let inFlight = 0
  let mark: Mark = { atMs: now(), busyMs: 0 }

  /** The integral of the requests in flight up to now. */
  const advance = (): Mark => {
    const atMs = now()
    mark = { atMs, busyMs: mark.busyMs + inFlight * (atMs - mark.atMs) }
    return mark
  }
  return {
    enter(isFirstTurn) {
      const at = advance()
      inFlight += 1
      load.requests += 1
      load.mostInFlight = Math.max(load.mostInFlight, inFlight)
      load.first ??= at
      if (inFlight >= slots) load.full ??= at
      if (isFirstTurn) load.lastStart = at
    },
    leave() {
      load.last = advance()
      inFlight -= 1
    },
    take() {
      const taken = load
      load = { requests: 0, mostInFlight: 0 }
      return taken
    },
  }
}

/** Shares of the slots that held a model request, 0 to 1. */
export type Utilisation = {
  /** Nominal time of all requests over the whole wall time, start and end of the run included. */
  overall: number
  /**
   * From the first full load to the last start of an agent, by the integral of the requests in flight at the model; NaN
   * when the load was never full.
   */
  steady: number
  /** Mean time the model took to answer: if it is above the nominal latency, the model itself was late. */
  meanLatencyMs: number
}

export function utilisationOf(
  load: ModelLoad,
  { slots, latencyMs, wallMs }: { slots: number; latencyMs: number; wallMs: number },
): Utilisation {
  const { requests, first, full, lastStart, last } = load
  const spanned = (from: typeof full, to: typeof full) =>
    from === undefined || to === undefined ? { ms: Number.NaN, busyMs: Number.NaN } : between(from, to)
  const steady = spanned(full, lastStart)
  return {
    overall: (requests * latencyMs) / (wallMs * slots),
    steady: steady.busyMs / (steady.ms * slots),
    meanLatencyMs: spanned(first, last).busyMs / requests,
  }
}

/** The share of the slots that held a request, from the first request to the last answer since the load was last taken. */
export function heldShare({ first, last }: ModelLoad, slots: number): number {
  if (first === undefined || last === undefined) return Number.NaN
  const { ms, busyMs } = between(first, last)
  return busyMs / (ms * slots)
}

function between(from: { atMs: number; busyMs: number }, to: { atMs: number; busyMs: number }) {
  return { ms: to.atMs - from.atMs, busyMs: to.busyMs - from.busyMs }
}
