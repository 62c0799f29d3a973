import type { ModelLoad } from '../model/load-meter.ts'

/** Shares of the slots that held a model request, 0 to 1. */
export type Utilisation = {
  /** Nominal time of all requests over the whole wall time, start and end of the run included. */
  overall: number
  /**
   * From the first full load to the last start of an agent, by the integral of the requests in flight at the model; NaN
   * when the load was never full.
   */
  steady: number
  /** Mean time the model took to answer: above the nominal latency it was late itself. */
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

function between(from: { atMs: number; busyMs: number }, to: { atMs: number; busyMs: number }) {
  return { ms: to.atMs - from.atMs, busyMs: to.busyMs - from.busyMs }
}
