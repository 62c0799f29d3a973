import { rehearsalLabel } from '#domain/rehearsal-label.ts'
import { formatSeconds } from '../format-seconds.ts'
import { plural } from '../plural.ts'
import { widthOf, type Paint } from '../progress/paint.ts'
import { describeCosts, describeModel, describeSettings } from './describe-side.ts'
import { isGoodEnough, type HarnessReport } from './harness-report.ts'
import { measures } from './measures.ts'
import type { SideReport } from './side-report.ts'
import type { PromptRates, Rates } from './tally.ts'

/** The report as a person reads it: who was asked how, the rates of every prompt, what it cost, the verdict. */
export function describeReport(report: HarnessReport, paint: Paint): string {
  const [tested, other] = report.sides
  const { requests, concurrency, peakInFlight, seed, durationMs } = report
  const prompts = tested.shapes.reduce((sum, { variants }) => sum + variants.length, 0)
  const sent = `${tested.total.requests} (${requests} of each of ${plural(prompts, 'prompt')}), ${concurrency} at once`
  const both = other === undefined ? '' : ', on each side in turn'
  const lines = [
    ...describeSides(tested, other),
    `requests  ${sent}${both}, seed ${seed}; ${formatSeconds(durationMs)}, at most ${peakInFlight} under way`,
    '',
    ...table(rowsOf(report, paint)),
    '',
    ...(other === undefined ? describeCosts(tested) : costsOfBoth(tested, other)),
    '',
    verdictOf(report, paint),
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

/** Texts of one row; the first two columns are aligned to the left. */
type Row = string[]

function rowsOf({ sides: [tested, other], minCalled }: HarnessReport, paint: Paint): Row[] {
  const columns = other === undefined ? [''] : ['A', 'B', 'B-A']
  const heads = measures.flatMap(({ head }) =>
    columns.map((column, at) => (column === '' ? head : `${at === 0 ? `${head} ` : ''}${column}`)),
  )
  const row = (shape: string, variant: string, own: PromptRates, others: PromptRates | undefined): Row => [
    shape,
    variant,
    ...cells(own.rates, others?.rates, { minCalled, paint }),
  ]
  const ofShapes = tested.shapes.flatMap((shape, at) => {
    const twin = other?.shapes[at]
    const variants = shape.variants.map((variant, index) => row('', variant.name, variant, twin?.variants[index]))
    return [row(shape.name, '', shape, twin), ...variants]
  })
  const all = (side: SideReport) => ({ name: 'all', rates: side.total })
  return [['', '', ...heads], ...ofShapes, row('all', '', all(tested), other && all(other))]
}

type CellStyle = { minCalled: number; paint: Paint }

function cells(own: Rates, other: Rates | undefined, { minCalled, paint }: CellStyle): string[] {
  return measures.flatMap(({ key }) => {
    const [a, b] = [own[key], other?.[key]]
    const shown = key === 'called' && a < minCalled ? paint('red', a.toFixed(3)) : a.toFixed(3)
    if (b === undefined) return [shown]
    const difference = b - a
    const sign = difference > 0 ? '+' : ''
    const told = Math.abs(difference) < 0.0005 ? '=' : `${sign}${difference.toFixed(3)}`
    return [shown, b.toFixed(3), difference < 0 ? paint('yellow', told) : told]
  })
}

function table(rows: readonly Row[]): string[] {
  const count = Math.max(...rows.map((row) => row.length))
  const widths = Array.from({ length: count }, (_, at) => Math.max(...rows.map((row) => widthOf(row[at] ?? ''))))
  return rows.map((row) => {
    const padded = row.map((text, at) => {
      const blank = ' '.repeat((widths[at] ?? 0) - widthOf(text))
      return at < 2 ? `${text}${blank}` : `${blank}${text}`
    })
    return padded.join('  ').trimEnd()
  })
}

function costsOfBoth(tested: SideReport, other: SideReport): string[] {
  const [ofA, ofB] = [describeCosts(tested), describeCosts(other)]
  return ['A', ...ofA.map(indented), 'B', ...ofB.map(indented)]
}

function indented(line: string): string {
  return `  ${line}`
}

function verdictOf(report: HarnessReport, paint: Paint): string {
  const { sides, minCalled } = report
  const [tested, other] = sides
  const rate = tested.total.called.toFixed(3)
  const which = other === undefined ? '' : ' (A)'
  const isRehearsal = tested.answeredBy === rehearsalLabel
  const remark = isRehearsal ? `\n${rehearsalLabel}: these figures say nothing about a model; name one with --model` : ''
  return isGoodEnough(report)
    ? `${paint('green', 'passed')}: called ${rate}${which}, --min-called ${minCalled}${remark}`
    : `${paint('red', 'failed')}: called ${rate}${which} is below --min-called ${minCalled}${remark}`
}
