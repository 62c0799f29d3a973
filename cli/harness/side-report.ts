import { rehearsalLabel } from '#domain/model-kind.ts'
import { percentilesOf } from '#platform/percentiles.ts'
import type { ProbeResult, Verdict } from './run-probe.ts'
import type { Side } from './side.ts'

const missesPerPrompt = 3

/** A side as `--json` prints it and `--out` writes it; docs/guide/harness.md describes it. */
export type SideReport = ReturnType<typeof reportSide>

export function reportSide({ servers, model, settings }: Side, results: readonly ProbeResult[], durationMs: number) {
  const { toolChoice, constraint, temperature, maxTokens, toolGuide, stream } = settings
  const answeredBy = results.find((result) => result.answeredBy !== '')?.answeredBy ?? model
  const missed = results.filter(
    ({ verdict, faults }) => !verdict.rightArguments || !verdict.submitted || faults.length > 0,
  )
  const byPrompt = Map.groupBy(missed, ({ probe }) => `${probe.shape}/${probe.variant}`)
  return {
    model,
    answered_by: answeredBy,
    is_rehearsal: answeredBy === rehearsalLabel,
    servers,
    settings: {
      tool_choice: toolChoice,
      constraint,
      temperature,
      max_tokens: maxTokens,
      tool_guide: toolGuide,
      stream,
    },
    total: ratesOf(results),
    shapes: ratesByShape(results),
    ...costsOf(results, durationMs),
    errors: distinctFaults(results),
    misses: [...byPrompt.values()].flatMap((group) => group.slice(0, missesPerPrompt)).map(missView),
  }
}

export type Rates = ReturnType<typeof ratesOf>

/** Shares are from 0 to 1; `parsed_from_content` is that of the replies with a call which had it in their content. */
function ratesOf(results: readonly ProbeResult[]) {
  const requests = results.length
  const count = (key: keyof Verdict) => results.filter(({ verdict }) => verdict[key]).length
  const share = (key: keyof Verdict, of = requests) => (of === 0 ? 0 : rounded(count(key) / of))
  return {
    requests,
    called: share('called'),
    right_tool: share('rightTool'),
    right_arguments: share('rightArguments'),
    submitted: share('submitted'),
    parsed_from_content: share('parsedFromContent', count('called')),
  }
}

function ratesByShape(results: readonly ProbeResult[]) {
  const shapes = Map.groupBy(results, ({ probe }) => probe.shape)
  return Array.from(shapes, ([name, ofShape]) => {
    const variants = Map.groupBy(ofShape, ({ probe }) => probe.variant)
    return {
      name,
      ...ratesOf(ofShape),
      variants: Array.from(variants, ([variant, own]) => ({ name: variant, ...ratesOf(own) })),
    }
  })
}

/** Times are in milliseconds, from a request to its whole first reply, with the tries that failed, or to the first part of a streamed one. */
function costsOf(results: readonly ProbeResult[], durationMs: number) {
  const answered = results.flatMap(({ exchanges }) => exchanges.filter(({ usage }) => usage !== undefined))
  const firsts = results.flatMap(({ exchanges }) => exchanges.slice(0, 1).filter(({ usage }) => usage !== undefined))
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const completion = sum(answered.map(({ usage }) => usage?.completionTokens ?? 0))
  const waitedMs = sum(answered.map((exchange) => exchange.durationMs))
  const perSecond = (ms: number) => (ms === 0 ? 0 : rounded((completion * 1000) / ms))
  const workarounds: Record<string, number> = {}
  for (const name of answered.flatMap((exchange) => exchange.workarounds ?? []))
    workarounds[name] = (workarounds[name] ?? 0) + 1
  return {
    latency_ms: {
      first_reply: percentilesOf(firsts.map((exchange) => exchange.durationMs)) ?? null,
      first_token: percentilesOf(firsts.flatMap(({ firstTokenMs }) => firstTokenMs ?? [])) ?? null,
      agent: percentilesOf(results.map(({ agentMs }) => agentMs)) ?? null,
    },
    replies: answered.length,
    tries: sum(answered.map(({ tries }) => tries ?? 1)),
    tokens: {
      prompt: sum(answered.map(({ usage }) => usage?.promptTokens ?? 0)),
      completion,
      per_s: perSecond(durationMs),
      per_s_of_reply: perSecond(waitedMs),
    },
    /** Counts the replies for which something was done another way because the servers could not do it. */
    workarounds,
  }
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000
}

function missView({ probe, firstReply, verdict, faults }: ProbeResult) {
  const { tools: _, ...asked } = probe
  const { content = null, calls = [] } = firstReply ?? {}
  const callViews = calls.map(({ parsedFromContent, name, arguments: args }) => {
    return { name, arguments: args, ...(parsedFromContent === true ? { parsed_from_content: true } : {}) }
  })
  return { ...asked, content, calls: callViews, submitted: verdict.submitted, errors: faults }
}

const comparedWords = 8

/** Counts the faults by code and the first words of the message, without figures; the most frequent first. */
function distinctFaults(results: readonly ProbeResult[]) {
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
