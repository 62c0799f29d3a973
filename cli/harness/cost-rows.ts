import type { Percentiles } from '#platform/percentiles.ts'
import type { SideReport } from './side-report.ts'

/** What two sides cost, beside each other, and how much more or less the second one does. */
export function costRows(tested: SideReport, other: SideReport): string[][] {
  const [ofA, ofB] = [figuresOf(tested), figuresOf(other)]
  const rows = ofA.map(([name, a], at) => {
    const b = ofB[at]?.[1]
    return [name, shown(a), shown(b), change(a, b)]
  })
  return [['', 'A', 'B', 'B-A'], ...rows.filter(([, a, b]) => a !== '' || b !== '')]
}

type Figure = readonly [name: string, value: number | undefined]

function figuresOf({ costs, total }: SideReport): Figure[] {
  const { latencyMs, replies, tries } = costs
  const each = (value: number, of: number) => (of === 0 ? undefined : value / of)
  return [
    ...timesOf('first reply', latencyMs.firstReply),
    ...timesOf('first token', latencyMs.firstToken),
    ...timesOf('agent', latencyMs.agent),
    ['tokens in a request', each(costs.promptTokens, replies)],
    ['tokens in a reply', each(costs.completionTokens, replies)],
    ['tokens/s of a reply', costs.tokensPerSecondOfReply],
    ['replies of an agent', each(replies, total.requests)],
    ['requests sent for a reply', each(tries, replies)],
    ['calls read from content', total.parsedFromContent],
  ]
}

function timesOf(name: string, times: Percentiles | undefined): Figure[] {
  return (['p50', 'p95', 'p99'] as const).map((rank) => [`${name} ${rank}, ms`, times?.[rank]])
}

function shown(value: number | undefined): string {
  if (value === undefined) return ''
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2)
}

function change(a: number | undefined, b: number | undefined): string {
  if (a === undefined || b === undefined || a === 0) return ''
  const percent = Math.round((b / a - 1) * 100)
  return percent === 0 ? '=' : `${percent > 0 ? '+' : ''}${percent} %`
}
