import type { ModelReply, ModelRequest } from '#domain/turn.ts'
import { msSince } from '#platform/clock.ts'
import type { Probe } from './plan-probes.ts'
import { runProbe, type ProbeResult } from './run-probe.ts'
import type { Side } from './side.ts'

export type Suite = {
  probes: readonly Probe[]
  sides: readonly Side[]
  systemPrompt: string
  concurrency: number
  onResult?(result: ProbeResult): void
}

export type SuiteRun = {
  results: ProbeResult[][]
  durationMs: number
  peakInFlight: number
}

type Job = { probe: Probe; at: number; side: Side; number: number }

/**
 * Runs every probe on every side in turn, so that both sides have the same load. The side that goes first alternates with
 * every probe, because a server may answer faster what it was just asked. Once everything under way has stopped, throws the
 * signal's reason if it was aborted.
 */
export async function runSuite(suite: Suite, signal: AbortSignal): Promise<SuiteRun> {
  const { probes, sides, systemPrompt, concurrency, onResult } = suite
  const gauge = openGauge()
  const gauged = sides.map((side) => ({ ...side, pool: gauge.over(side.pool) }))
  const results: ProbeResult[][] = sides.map(() => [])
  const jobs = jobsOf(probes, gauged).values()
  const failure = new AbortController()
  const both = AbortSignal.any([signal, failure.signal])
  const start = performance.now()
  const lane = async () => {
    for (const { probe, at, side, number } of jobs) {
      const result = await runProbe(probe, side, systemPrompt, both)
      const own = results[number]
      if (own !== undefined) own[at] = result
      onResult?.(result)
    }
  }
  const lanes = Array.from({ length: concurrency }, () => lane().catch((error: unknown) => failure.abort(error)))
  await Promise.all(lanes)
  signal.throwIfAborted()
  failure.signal.throwIfAborted()
  return { results, durationMs: msSince(start), peakInFlight: gauge.peak() }
}

function jobsOf(probes: readonly Probe[], sides: readonly Side[]): Job[] {
  return probes.flatMap((probe, at) => {
    const jobs = sides.map((side, number) => ({ probe, at, side, number }))
    return at % 2 === 0 ? jobs : jobs.toReversed()
  })
}

function openGauge() {
  let running = 0
  let peak = 0
  return {
    peak: () => peak,
    over: (pool: Side['pool']): Side['pool'] => ({
      async complete(request: ModelRequest, signal: AbortSignal): Promise<ModelReply> {
        running += 1
        peak = Math.max(peak, running)
        try {
          return await pool.complete(request, signal)
        } finally {
          running -= 1
        }
      },
    }),
  }
}
