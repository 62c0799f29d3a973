import type { Log } from '#platform/log.ts'
import type { Terminal } from '../progress/live-screen.ts'
import { harnessAgent } from '../run/known-agents.ts'
import { harnessPrompt } from './harness-prompt.ts'
import type { HarnessReport } from './harness-report.ts'
import { openSides, type SidesOrder } from './open-sides.ts'
import { planProbes, type ProbePlan } from './plan-probes.ts'
import { openProgress } from './progress.ts'
import { runSuite } from './run-suite.ts'
import { reportSide } from './side-report.ts'

export type HarnessOrder = ProbePlan & SidesOrder & { agentsDir: string; minCalled: number }

export type HarnessDeps = { terminal: Terminal | undefined; log: Pick<Log, 'warn' | 'debug'> | undefined }

/**
 * Measures the tool calling of one model, or of two in turn. Closes all it opened, also when the signal's reason is
 * thrown. CONFIG_005 when a server does not answer; what happens later is in the report.
 */
export async function runHarness(order: HarnessOrder, deps: HarnessDeps, signal: AbortSignal): Promise<HarnessReport> {
  const systemPrompt = await harnessPrompt(order.agentsDir)
  const opened = await openSides(order, deps.log, signal)
  const [tested, other] = opened.sides
  const sides = other === undefined ? [tested] : [tested, other]
  const probes = planProbes(order)
  const progress = openProgress(probes.length * sides.length, deps.terminal)
  try {
    const { concurrency, requests, seed, minCalled } = order
    const suite = { probes, sides, systemPrompt, concurrency, onResult: progress.tell }
    const { results, durationMs, peakInFlight } = await runSuite(suite, signal)
    const [ofTested = [], ofOther = []] = results
    const reports: HarnessReport['sides'] =
      other === undefined
        ? [reportSide(tested, ofTested, durationMs)]
        : [reportSide(tested, ofTested, durationMs), reportSide(other, ofOther, durationMs)]
    return { agent: harnessAgent, seed, requests, concurrency, peakInFlight, minCalled, durationMs, sides: reports }
  } finally {
    progress.close()
    await opened.close()
  }
}
