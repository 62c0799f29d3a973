import { costsOf, type Costs } from './costs.ts'
import { distinctFaults, type DistinctFault } from './distinct-faults.ts'
import type { ProbeResult } from './run-probe.ts'
import type { Side } from './side.ts'
import { ratesByShape, ratesOf, type Rates, type ShapeRates } from './tally.ts'

/** What one side is worth. */
export type SideReport = {
  side: Pick<Side, 'servers' | 'model' | 'settings'>
  /** The model's name as its server says it, or the one that was asked for. */
  answeredBy: string
  total: Rates
  shapes: ShapeRates[]
  costs: Costs
  faults: DistinctFault[]
  /** The first few requests of every prompt that did not go as expected. */
  misses: ProbeResult[]
}

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
