import type { ProbeResult, Verdict } from './run-probe.ts'

/** Shares of the requests, from 0 to 1. */
export type Rates = {
  requests: number
  called: number
  rightTool: number
  rightArguments: number
  submitted: number
  /** Of the replies with a call, those that had it in their content. */
  parsedFromContent: number
}

export type PromptRates = { name: string; rates: Rates }
export type ShapeRates = PromptRates & { variants: PromptRates[] }

export function ratesOf(results: readonly ProbeResult[]): Rates {
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

/** In the order in which shapes and variants first come. */
export function ratesByShape(results: readonly ProbeResult[]): ShapeRates[] {
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
