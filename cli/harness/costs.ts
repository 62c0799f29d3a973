import { percentilesOf, type Percentiles } from '#platform/percentiles.ts'
import type { ProbeResult } from './run-probe.ts'

export type Costs = {
  latencyMs: {
    /** From the request to the whole first reply, with what was tried before it. */
    firstReply: Percentiles | undefined
    /** Of streamed replies: to their first part. */
    firstToken: Percentiles | undefined
    /** From the request to the end of the agent. */
    agent: Percentiles | undefined
  }
  replies: number
  /** Requests sent for these replies. */
  tries: number
  promptTokens: number
  completionTokens: number
  /** While a reply was written, and waited for: of one request, on the average. */
  tokensPerSecondOfReply: number
  /** Of all the requests together, over the whole time. */
  tokensPerSecond: number
  /** What the servers could not do and was done another way, with the number of replies. */
  workarounds: Record<string, number>
}

/** `durationMs` is of the whole suite. */
export function costsOf(results: readonly ProbeResult[], durationMs: number): Costs {
  const answered = results.flatMap(({ exchanges }) => exchanges.filter(({ usage }) => usage !== undefined))
  const firsts = results.flatMap(({ exchanges }) => exchanges.slice(0, 1).filter(({ usage }) => usage !== undefined))
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const completionTokens = sum(answered.map(({ usage }) => usage?.completionTokens ?? 0))
  const waitedMs = sum(answered.map((exchange) => exchange.durationMs))
  const workarounds: Record<string, number> = {}
  for (const name of answered.flatMap((exchange) => exchange.workarounds ?? []))
    workarounds[name] = (workarounds[name] ?? 0) + 1
  return {
    latencyMs: {
      firstReply: percentilesOf(firsts.map((exchange) => exchange.durationMs)),
      firstToken: percentilesOf(firsts.flatMap(({ firstTokenMs }) => firstTokenMs ?? [])),
      agent: percentilesOf(results.map(({ agentMs }) => agentMs)),
    },
    replies: answered.length,
    tries: sum(answered.map(({ tries }) => tries ?? 1)),
    promptTokens: sum(answered.map(({ usage }) => usage?.promptTokens ?? 0)),
    completionTokens,
    tokensPerSecondOfReply: waitedMs === 0 ? 0 : (completionTokens * 1000) / waitedMs,
    tokensPerSecond: durationMs === 0 ? 0 : (completionTokens * 1000) / durationMs,
    workarounds,
  }
}
