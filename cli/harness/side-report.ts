import { type Percentiles, percentilesOf } from '#platform/percentiles.ts'
import type { ProbeFault, ProbeResult, Verdict } from './run-probe.ts'
import type { Side } from './side.ts'

export type SideReport = {
  side: Pick<Side, 'servers' | 'model' | 'settings'>
  /** The model's name as its server reports it, or the one that was asked for. */
  answeredBy: string
  total: Rates
  shapes: ShapeRates[]
  costs: Costs
  faults: DistinctFault[]
  /** The first few requests of every prompt that did not go as expected. */
  misses: ProbeResult[]
}

/** Shares of the requests, from 0 to 1. */
export type Rates = {
  requests: number
  called: number
  rightTool: number
  rightArguments: number
  submitted: number
  /** Is the share, among the replies with a call, of those that had it in their content. */
  parsedFromContent: number
}

export type PromptRates = { name: string; rates: Rates }
type ShapeRates = PromptRates & { variants: PromptRates[] }

type Costs = {
  latencyMs: {
    /** Lasts from the request to the whole first reply, including tries that failed. */
    firstReply: Percentiles | undefined
    /** Lasts from the request to the first part of the reply, where that is streamed. */
    firstToken: Percentiles | undefined
    agent: Percentiles | undefined
  }
  replies: number
  tries: number
  promptTokens: number
  completionTokens: number
  /** Is the average rate of one request, from sending it to the end of its reply. */
  tokensPerSecondOfReply: number
  /** Is the rate of all requests together, over the whole suite. */
  tokensPerSecond: number
  /** Names what was done another way because the servers could not do it, with the number of replies. */
  workarounds: Record<string, number>
}

/** Faults of one kind: the message of the first, how many there were, and in how many agents. */
type DistinctFault = ProbeFault & { count: number; agents: number }

const missesPerPrompt = 3

export function reportSide(
  { servers, model, settings }: Side,
  results: readonly ProbeResult[],
  durationMs: number,
): SideReport {
  const missed = results.filter(
    ({ verdict, faults }) => !verdict.rightArguments || !verdict.submitted || faults.length > 0,
  )
  const byPrompt = Map.groupBy(missed, ({ probe }) => `${probe.shape}/${probe.variant}`)
  return {
    side: { servers, model, settings },
    answeredBy: results.find(({ answeredBy }) => answeredBy !== '')?.answeredBy ?? model,
    total: ratesOf(results),
    shapes: ratesByShape(results),
    costs: costsOf(results, durationMs),
    faults: distinctFaults(results),
    misses: [...byPrompt.values()].flatMap((group) => group.slice(0, missesPerPrompt)),
  }
}

function ratesOf(results: readonly ProbeResult[]): Rates {
  const requests = results.length
  const count = (key: keyof Verdict) => results.filter(({ verdict }) => verdict[key]).length
  const share = (key: keyof Verdict, of = requests) => (of === 0 ? 0 : count(key) / of)
  return {
    requests,
    called: share('called'),
    rightTool: share('rightTool'),
    rightArguments: share('rightArguments'),
    submitted: share('submitted'),
    parsedFromContent: share('parsedFromContent', count('called')),
  }
}

function ratesByShape(results: readonly ProbeResult[]): ShapeRates[] {
  const shapes = Map.groupBy(results, ({ probe }) => probe.shape)
  return Array.from(shapes, ([name, ofShape]) => {
    const variants = Map.groupBy(ofShape, ({ probe }) => probe.variant)
    return {
      name,
      rates: ratesOf(ofShape),
      variants: Array.from(variants, ([variant, own]) => ({ name: variant, rates: ratesOf(own) })),
    }
  })
}

function costsOf(results: readonly ProbeResult[], durationMs: number): Costs {
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

const comparedWords = 8

/** Returns the faults by code and the first words of the message, without figures; the most frequent first. */
function distinctFaults(results: readonly ProbeResult[]): DistinctFault[] {
  const all = results.flatMap(({ faults }, agent) => faults.map((fault) => ({ ...fault, agent })))
  const alike = Map.groupBy(all, ({ code, message }) => `${code} ${firstWords(message)}`)
  return Array.from(alike.values(), (group) => {
    const [{ code, message } = { code: '', message: '' }] = group
    return { code, message, count: group.length, agents: new Set(group.map(({ agent }) => agent)).size }
  }).toSorted((left, right) => right.count - left.count)
}

function firstWords(message: string): string {
  return message.replaceAll(/\d+/g, '#').split(/\s+/).slice(0, comparedWords).join(' ')
}
