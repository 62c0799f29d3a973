import { type Column, notProved, sectionHead, table, verdict } from './markdown-report.ts'
import { escapeXml, strokeOf } from './svg.ts'

/** Of one run. CPU in ms of all operations together, by part of the system; `…Ms` of the reads are medians of one answer. */
export type GrowthFigures = {
  operations: number
  wallMs: number
  cpu: Readonly<Record<string, number>>
  compositionCpuMs: number
  compositionMs: number
  redisPeakBytes: number
  redisEndBytes: number
  liveMs: number
  runMs: number
  firstPageMs: number
  lastPageMs: number
  failedPageMs: number
  patchMs: number
  verifyMs: number
  faults: readonly string[]
}

type Quantity = {
  name: string
  /** Per operation, or of one answer. */
  of(figures: GrowthFigures): number
  unit: string
  digits: number
  isDrawn?: boolean
}

const cpuOf = ({ cpu }: GrowthFigures) => Object.values(cpu).reduce((sum, ms) => sum + ms, 0)

/** What may grow with the run: divided by its operations it is to stay as it is. */
const perOperation: readonly Quantity[] = [
  { name: 'CPU of everything', of: (one) => cpuOf(one) / one.operations, unit: 'ms', digits: 2, isDrawn: true },
  { name: 'Redis at most', of: (one) => one.redisPeakBytes / one.operations, unit: 'bytes', digits: 0, isDrawn: true },
  { name: 'Redis after the end', of: (one) => one.redisEndBytes / one.operations, unit: 'bytes', digits: 0 },
  { name: 'composition, CPU of the worker', of: (one) => one.compositionCpuMs / one.operations, unit: 'ms', digits: 2 },
  { name: 'composition', of: (one) => one.compositionMs / one.operations, unit: 'ms', digits: 2, isDrawn: true },
  { name: 'remora verify', of: (one) => one.verifyMs / one.operations, unit: 'ms', digits: 2, isDrawn: true },
  { name: 'the patch, read', of: (one) => one.patchMs / one.operations, unit: 'ms', digits: 3 },
  { name: 'submission to end', of: (one) => one.wallMs / one.operations, unit: 'ms', digits: 2 },
]

/** What is to cost the same however large the run is. */
const perAnswer: readonly Quantity[] = [
  { name: 'GET the run, half done', of: ({ liveMs }) => liveMs, unit: 'ms', digits: 1 },
  { name: 'GET the run', of: ({ runMs }) => runMs, unit: 'ms', digits: 1, isDrawn: true },
  { name: 'first page of 100 operations', of: ({ firstPageMs }) => firstPageMs, unit: 'ms', digits: 1 },
  { name: 'last page of operations', of: ({ lastPageMs }) => lastPageMs, unit: 'ms', digits: 1, isDrawn: true },
  { name: '?status=failed', of: ({ failedPageMs }) => failedPageMs, unit: 'ms', digits: 1 },
]

/** Above it a quantity is said to grow: runs on a shared machine differ by as much. */
const tolerance = 1.5

const count = (value: number) => value.toLocaleString('en')

/** The largest run against the smallest. */
function growthOf({ of }: Quantity, figures: readonly GrowthFigures[]): number {
  const [first, last] = [figures[0], figures.at(-1)]
  return first === undefined || last === undefined ? Number.NaN : of(last) / of(first)
}

/** results/growth.md. */
export function renderGrowth(
  figures: readonly GrowthFigures[],
  { redisVersion, slots, tookMs }: { redisVersion: string; slots: number; tookMs: number },
): string {
  const rows = (quantities: readonly Quantity[]) => {
    const columns: readonly Column<Quantity>[] = [
      ['', ({ name, unit }) => `${name}, ${unit}`],
      ...figures.map((one): Column<Quantity> => [count(one.operations), ({ of, digits }) => of(one).toFixed(digits)]),
      ['largest against smallest', (quantity) => `${growthOf(quantity, figures).toFixed(2)}×`],
    ]
    return table(columns, quantities)
  }
  const grown = [...perOperation, ...perAnswer].filter((quantity) => growthOf(quantity, figures) > tolerance)
  return `${sectionHead('Growth of a run', { command: 'node bench/growth-bench.ts', redisVersion, tookMs })}
Runs of the agent docstring over functions of three lines, 20 in a file, by api, discovery, one worker of ${slots} slots, Redis, the
embedded object store and the rehearsal model (no LLM), which takes no time: each a process of its own, and all new for each
size. The columns are numbers of operations. One run of each size; the chart is docs/images/growth.svg.

Divided by the operations of the run:

${rows(perOperation)}

Of one answer, median of 15:

${rows(perAnswer)}

Nothing is to grow by more than ${tolerance} times: ${verdict(grown.length === 0)}${grown.length === 0 ? '' : `, but ${grown.map(({ name }) => name).join(', ')}`}.
${notProved(figures.flatMap(({ faults }) => faults))}`
}

const size = { width: 860, height: 420 }
const plot = { left: 76, right: 836, top: 118, bottom: 350 }

/** Each quantity against what it was in the smallest run, over the number of operations, as an SVG. A level line is linear growth. Pure. */
export function growthChart(figures: readonly GrowthFigures[]): string {
  const drawn = [...perOperation, ...perAnswer].filter(({ isDrawn }) => isDrawn === true)
  const lines = drawn.map((quantity) => ({
    name: quantity.name,
    ratios: figures.map((one) => quantity.of(one) / quantity.of(figures[0] ?? one)),
  }))
  const top = Math.max(2, Math.ceil(Math.max(...lines.flatMap(({ ratios }) => ratios))))
  const x = (at: number) => Math.round(plot.left + ((plot.right - plot.left) * at) / Math.max(1, figures.length - 1))
  const y = (ratio: number) => Math.round((plot.bottom - (plot.bottom - plot.top) * (ratio / top)) * 10) / 10
  const legend = lines.map(({ name }, at) => {
    const [left, line] = [plot.left + (at % 3) * 260, 44 + Math.floor(at / 3) * 24]
    return `<line x1="${left}" y1="${line}" x2="${left + 26}" y2="${line}" ${strokeOf(at)}/><text x="${left + 34}" y="${line + 4}">${escapeXml(name)}</text>`
  })
  const grid = Array.from({ length: top + 1 }, (_, ratio) => {
    const at = y(ratio)
    const weight = ratio === 1 ? 0.9 : 0.3
    return `<line x1="${plot.left}" y1="${at}" x2="${plot.right}" y2="${at}" stroke="#7d8590" stroke-opacity="${weight}"/><text x="${plot.left - 8}" y="${at + 4}" text-anchor="end">${ratio}×</text>`
  })
  const ticks = figures.map(({ operations }, at) => {
    const anchor = at === 0 ? 'start' : at === figures.length - 1 ? 'end' : 'middle'
    return `<text x="${x(at)}" y="${plot.bottom + 22}" text-anchor="${anchor}">${count(operations)}</text>`
  })
  const paths = lines.map(({ ratios }, at) => {
    const points = ratios.map((ratio, index) => `${x(index)} ${y(ratio)}`)
    return `<path d="M${points.join('L')}" fill="none" stroke-linejoin="round" ${strokeOf(at)}/>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="#7d8590">
<title>Cost of a run as it grows</title>
<desc>${escapeXml(lines.map(({ name, ratios }) => `${name}: ${(ratios.at(-1) ?? 1).toFixed(2)} times`).join('; '))}</desc>
<text x="${plot.left}" y="22" font-size="16" font-weight="600">Cost for each operation, and of one answer, against the smallest run</text>
${[...legend, ...grid, ...ticks, ...paths].join('\n')}
<text x="${(plot.left + plot.right) / 2}" y="${plot.bottom + 48}" text-anchor="middle">operations of the run</text>
</svg>
`
}
