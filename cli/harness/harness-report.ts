import { rehearsalLabel } from '#domain/model-kind.ts'
import type { PromptRates, Rates, SideReport } from './side-report.ts'
import type { ProbeResult } from './run-probe.ts'
import type { Side } from './side.ts'

export type HarnessReport = {
  agent: string
  seed: number
  requests: number
  concurrency: number
  peakInFlight: number
  minCalled: number
  durationMs: number
  sides: readonly [SideReport, SideReport?]
}

export function isGoodEnough({ sides: [tested], minCalled }: HarnessReport): boolean {
  return tested.total.called >= minCalled
}

/** Returns the report as `--json` prints it and `--out` writes it; docs/guide/harness.md describes it. */
export function reportView(report: HarnessReport) {
  const sides = report.sides.flatMap((side) => (side === undefined ? [] : [sideView(side)]))
  return {
    agent: report.agent,
    seed: report.seed,
    requests_per_prompt: report.requests,
    concurrency: report.concurrency,
    peak_in_flight: report.peakInFlight,
    duration_ms: report.durationMs,
    min_called: report.minCalled,
    passed: isGoodEnough(report),
    sides,
  }
}

function sideView({ side, answeredBy, total, shapes, costs, faults, misses }: SideReport) {
  const { firstReply, firstToken, agent } = costs.latencyMs
  return {
    model: side.model,
    answered_by: answeredBy,
    is_rehearsal: answeredBy === rehearsalLabel,
    servers: side.servers,
    settings: settingsView(side.settings),
    total: ratesView(total),
    shapes: shapes.map(({ variants, ...shape }) => ({ ...promptView(shape), variants: variants.map(promptView) })),
    latency_ms: { first_reply: firstReply ?? null, first_token: firstToken ?? null, agent: agent ?? null },
    replies: costs.replies,
    tries: costs.tries,
    tokens: {
      prompt: costs.promptTokens,
      completion: costs.completionTokens,
      per_s: rounded(costs.tokensPerSecond),
      per_s_of_reply: rounded(costs.tokensPerSecondOfReply),
    },
    workarounds: costs.workarounds,
    errors: faults,
    misses: misses.map(missView),
  }
}

function settingsView({ toolChoice, constraint, temperature, maxTokens, toolGuide, stream }: Side['settings']) {
  return { tool_choice: toolChoice, constraint, temperature, max_tokens: maxTokens, tool_guide: toolGuide, stream }
}

function promptView({ name, rates }: PromptRates) {
  return { name, ...ratesView(rates) }
}

function ratesView({ requests, ...rates }: Rates) {
  return {
    requests,
    called: rounded(rates.called),
    right_tool: rounded(rates.rightTool),
    right_arguments: rounded(rates.rightArguments),
    submitted: rounded(rates.submitted),
    parsed_from_content: rounded(rates.parsedFromContent),
  }
}

function missView({ probe, firstReply, verdict, faults }: ProbeResult) {
  const { tools: _, ...asked } = probe
  const { content = null, calls = [] } = firstReply ?? {}
  const callViews = calls.map(({ parsedFromContent, name, arguments: args }) => {
    return { name, arguments: args, ...(parsedFromContent === true ? { parsed_from_content: true } : {}) }
  })
  return { ...asked, content, calls: callViews, submitted: verdict.submitted, errors: faults }
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
