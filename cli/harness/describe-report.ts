import { rehearsalLabel } from '#domain/rehearsal-label.ts'
import { formatSeconds } from '../format-seconds.ts'
import { plural } from '../plural.ts'
import type { Paint } from '../progress/paint.ts'
import { costRows } from './cost-rows.ts'
import { describeCosts, describeFaults, describeModel, describeSettings } from './describe-side.ts'
import { isGoodEnough, type HarnessReport } from './harness-report.ts'
import { rateRows } from './rate-rows.ts'
import type { SideReport } from './side-report.ts'
import { textTable } from '../text-table.ts'

/** The report as a person reads it: who was asked how, the rates of every prompt, what it cost, the verdict. */
export function describeReport(report: HarnessReport, paint: Paint): string {
  const [tested, other] = report.sides
  const lines = [
    ...describeSides(tested, other),
    describeLoad(report),
    '',
    ...textTable(rateRows(report, paint)),
    '',
    ...(other === undefined ? [...describeCosts(tested), ...describeFaults(tested)] : describeBoth(tested, other)),
    '',
    ...describeVerdict(report, paint),
  ]
  return `${lines.join('\n')}\n`
}

function describeSides(tested: SideReport, other: SideReport | undefined): string[] {
  const named = (name: string, side: SideReport) => [
    `${name.padEnd(10)}${describeModel(side)}`,
    `          ${describeSettings(side.side.settings)}`,
  ]
  return other === undefined ? named('model', tested) : [...named('A', tested), ...named('B', other)]
}

function describeLoad({ sides, requests, concurrency, peakInFlight, seed, durationMs }: HarnessReport): string {
  const [tested, other] = sides
  const prompts = tested.shapes.reduce((sum, { variants }) => sum + variants.length, 0)
  const which = `${plural(tested.total.requests, 'agent')}, ${requests} for each of ${plural(prompts, 'prompt')}`
  const both = other === undefined ? '' : ', for A and B in turn'
  const load = `${concurrency} at once (at most ${plural(peakInFlight, 'request')} under way)`
  return `load      ${which}${both}; ${load}; seed ${seed}; ${formatSeconds(durationMs)}`
}

function describeBoth(tested: SideReport, other: SideReport): string[] {
  const faults = (name: string, side: SideReport) => describeFaults(side).map((line) => `${name} ${line}`)
  return [...textTable(costRows(tested, other)), '', ...faults('A', tested), ...faults('B', other)]
}

function describeVerdict(report: HarnessReport, paint: Paint): string[] {
  const { sides, minCalled } = report
  const [tested, other] = sides
  const rate = `called ${tested.total.called.toFixed(3)}${other === undefined ? '' : ' by A'}`
  const verdict = isGoodEnough(report)
    ? `${paint('green', 'passed')}: ${rate}, at least ${minCalled} (--min-called)`
    : `${paint('red', 'failed')}: ${rate}, less than ${minCalled} (--min-called)`
  const isRehearsal = sides.some((side) => side?.answeredBy === rehearsalLabel)
  return isRehearsal
    ? [verdict, `The ${rehearsalLabel} plays by plain rules: its figures say nothing about a model (--model URL).`]
    : [verdict]
}
