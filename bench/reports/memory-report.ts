import { type Column, notProved, sectionHead, table } from './markdown-report.ts'

/** Memory of a process in bytes: resident, and what is left on its heap and outside it after a garbage collection. */
export type MemorySample = { operations: number; residentBytes: number; heapBytes: number; externalBytes: number }

export type MemoryFigures = {
  slots: number
  warmup: number
  operations: number
  /** Samples before this many operations do not count for the line. */
  settledAfter: number
  redisVersion: string
  samples: readonly MemorySample[]
  faults: readonly string[]
}

/** Growth in bytes per operation that still counts as flat. */
const flatBytes = 200

const measures = [
  ['resident', 'residentBytes'],
  ['heap after a collection', 'heapBytes'],
  ['external after a collection', 'externalBytes'],
] as const

/** results/memory.md */
export function renderMemory(figures: MemoryFigures): string {
  const { slots, warmup, operations, settledAfter, faults, redisVersion } = figures
  const head = { command: 'node bench/memory-bench.ts', redisVersion }
  return `${sectionHead(`Memory of a worker over ${operations} operations`, head)}
One worker process with ${slots} slots; a model that answers after 0 to 50 ms; every operation has a file of its own. ${warmup}
operations in a run of their own come first; caches of blobs are 1 MiB. Sampled about every
250 operations, after a garbage collection. Growth is the slope of a line by least squares
over the samples from operation ${settledAfter} on, ± twice its standard error. Flat: at most ${flatBytes} bytes per operation, or not
distinguishable from noise.

${growthTable(figures)}
${notProved(faults)}
`
}

function growthTable({ samples, settledAfter }: MemoryFigures): string {
  const settled = samples.filter((sample) => sample.operations >= settledAfter)
  const rows = measures.map(([name, key]) => ({
    name,
    line: fitLine(settled.map((sample) => ({ x: sample.operations, y: sample[key] }))),
    most: Math.max(...samples.map((sample) => sample[key])),
  }))
  const columns: readonly Column<(typeof rows)[number]>[] = [
    ['', ({ name }) => name],
    ['bytes per operation', ({ line }) => `${line.slope.toFixed(0)} ± ${line.error.toFixed(0)}`],
    ['most, MiB', ({ most }) => mib(most)],
    ['', ({ line }) => growthVerdict(line)],
  ]
  return table(columns, rows)
}

/** Compares the slope with the limit and with its error: a slope under the limit may still be a leak, one above it may be noise. */
function growthVerdict({ slope, error }: FittedLine): string {
  const isSmall = slope < flatBytes
  const isNoise = slope < error
  if (isSmall && isNoise) return 'flat'
  if (isSmall) return 'flat by the limit, but more than noise'
  return isNoise ? 'over the limit, but not more than noise' : 'GROWS'
}

/** A line through points by least squares: its slope, and twice the slope's standard error. */
type FittedLine = { slope: number; error: number }

/** Needs three points with different x. */
export function fitLine(points: readonly { x: number; y: number }[]): FittedLine {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanX, meanY] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))]
  let [squares, products] = [0, 0]
  for (const { x, y } of points) {
    squares += (x - meanX) ** 2
    products += (x - meanX) * (y - meanY)
  }
  const slope = products / squares
  const residuals = points.map(({ x, y }) => (y - meanY - slope * (x - meanX)) ** 2)
  const variance = residuals.reduce((sum, value) => sum + value, 0) / (points.length - 2)
  return { slope, error: 2 * Math.sqrt(variance / squares) }
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1)
}
