import type { Paint } from '../progress/paint.ts'
import type { HarnessReport } from './harness-report.ts'
import type { PromptRates, Rates } from './tally.ts'

const measures = [
  { key: 'called', head: 'called' },
  { key: 'rightTool', head: 'right tool' },
  { key: 'rightArguments', head: 'right arguments' },
  { key: 'submitted', head: 'submitted' },
] as const

/** A row for every shape, under it one for each of its prompts, and one for all; of two sides both, and what is between them. */
export function rateRows({ sides: [tested, other], minCalled }: HarnessReport, paint: Paint): string[][] {
  const style = { minCalled, paint }
  const row = (name: string, own: PromptRates, others: PromptRates | undefined) => [
    name,
    ...measures.map(({ key }) => rateText(key, own.rates, others?.rates, style)),
  ]
  const ofShapes = tested.shapes.flatMap((shape, at) => {
    const twin = other?.shapes[at]
    const variants = shape.variants.map((variant, index) => row(`  ${variant.name}`, variant, twin?.variants[index]))
    return [row(shape.name, shape, twin), ...variants]
  })
  const all = row('all', { name: 'all', rates: tested.total }, other && { name: 'all', rates: other.total })
  const heads = [['', ...measures.map(({ head }) => head)]]
  if (other !== undefined) heads.push(['', ...measures.map(() => 'A     B    B-A')])
  return [...heads, ...ofShapes, all]
}

function rateText(
  key: (typeof measures)[number]['key'],
  own: Rates,
  other: Rates | undefined,
  { minCalled, paint }: { minCalled: number; paint: Paint },
): string {
  const rate = own[key]
  const shown = key === 'called' && rate < minCalled ? paint('red', rate.toFixed(3)) : rate.toFixed(3)
  if (other === undefined) return shown
  const difference = other[key] - rate
  const told = Math.abs(difference) < 0.0005 ? '=' : `${difference > 0 ? '+' : ''}${difference.toFixed(3)}`
  return `${shown} ${other[key].toFixed(3)} ${paint(difference < 0 ? 'yellow' : 'dim', told.padStart(6))}`
}
