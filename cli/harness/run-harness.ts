import type { Log } from '#platform/log.ts'
import { agentFolders, harnessAgent } from '#bundles/bundle-files.ts'
import { loadBundle } from '#bundles/load-bundle.ts'
import { resolveSettings } from '#bundles/adjust-bundles.ts'
import { compileTemplate } from '#bundles/template.ts'
import { formatSeconds } from '#domain/timeline/words.ts'
import { openLiveScreen, type Terminal } from '../progress/live-screen.ts'
import { openSides, type SidesOrder } from './open-sides.ts'
import { planProbes, type ProbePlan, type Probe } from './plan-probes.ts'
import { reportSide, type SideReport } from './side-report.ts'
import { type ProbeResult, runProbe } from './run-probe.ts'
import type { ModelReply, ModelRequest } from '#domain/turn.ts'
import { msSince } from '#platform/clock.ts'
import type { Side } from './side.ts'

export type HarnessOrder = ProbePlan & SidesOrder & { agentsDir: string | undefined; minCalled: number }

/** The report as `--json` prints it and `--out` writes it. */
export type HarnessReport = Awaited<ReturnType<typeof runHarness>>

export type HarnessDeps = { terminal: Terminal | undefined; log: Pick<Log, 'warn' | 'debug'> | undefined }

/**
 * Measures the tool calling of one model, or of two in turn. Closes everything it opened, also when it throws the signal's
 * reason. CONFIG_005 when a server does not answer at the start; later failures are in the report.
 */
export async function runHarness(order: HarnessOrder, deps: HarnessDeps, signal: AbortSignal) {
  const systemPrompt = await harnessPrompt(order.agentsDir)
  const opened = await openSides(order, deps.log, signal)
  const [tested, other] = opened.sides
  const sides = other === undefined ? [tested] : [tested, other]
  const probes = planProbes(order)
  const progress = openProgress(probes.length * sides.length, deps.terminal)
  try {
    const { concurrency, requests, seed, minCalled } = order
    const suite = { probes, sides, systemPrompt, concurrency, onResult: progress.add }
    const { results, durationMs, peakInFlight } = await runSuite(suite, signal)
    const [ofTested = [], ofOther = []] = results
    const report = reportSide(tested, ofTested, durationMs)
    const reports: [SideReport, SideReport?] = [report]
    if (other !== undefined) reports.push(reportSide(other, ofOther, durationMs))
    return {
      agent: harnessAgent,
      seed,
      requests_per_prompt: requests,
      concurrency,
      peak_in_flight: peakInFlight,
      duration_ms: durationMs,
      min_called: minCalled,
      passed: report.total.called >= minCalled,
      sides: reports,
    }
  } finally {
    progress.close()
    await opened.close()
  }
}

/** Returns the system prompt of the bundle `harness` in `agentsDir`, else of Remora's own. AGENT_001 for a broken bundle. */
export async function harnessPrompt(agentsDir: string | undefined): Promise<string> {
  const { bundle } = await loadBundle((await agentFolders(agentsDir)).get(harnessAgent) ?? '')
  const settings = resolveSettings(bundle, {})
  return compileTemplate(bundle.file.initial_context.system_prompt).render({ settings })
}

function openProgress(total: number, terminal: Terminal | undefined) {
  if (terminal === undefined) return { add: () => {}, close: () => {} }
  const screen = openLiveScreen(terminal)
  const start = performance.now()
  let ended = 0
  let called = 0
  const line = () => [
    `[${formatSeconds(performance.now() - start)}] ${ended}/${total} agents, called ${(called / Math.max(1, ended)).toFixed(3)}`,
  ]
  screen.draw(line)
  return {
    add({ verdict }: ProbeResult) {
      ended += 1
      if (verdict.called) called += 1
      screen.draw(line)
    },
    close: screen.close,
  }
}

type Suite = {
  probes: readonly Probe[]
  sides: readonly Side[]
  systemPrompt: string
  concurrency: number
  onResult?(result: ProbeResult): void
}

type SuiteRun = {
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
async function runSuite(suite: Suite, signal: AbortSignal): Promise<SuiteRun> {
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
