import type { Log } from '#platform/log.ts'
import { agentFolders, harnessAgent } from '#bundles/bundle-files.ts'
import { loadBundle } from '#bundles/load-bundle.ts'
import { resolveSettings } from '#bundles/adjust-bundles.ts'
import { compileTemplate } from '#bundles/template.ts'
import { formatSeconds } from '#domain/timeline/words.ts'
import { openLiveScreen, type Terminal } from '../progress/live-screen.ts'
import { openSides, type SidesOrder } from './open-sides.ts'
import { planProbes, type ProbePlan } from './plan-probes.ts'
import { runSuite } from './run-suite.ts'
import { reportSide, type SideReport } from './side-report.ts'
import type { ProbeResult } from './run-probe.ts'

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
