import { type Column, median, notProved, sectionHead, spread, table, verdict } from './markdown-report.ts'

/**
 * One composition. Its thread ran for `ranMs`, and was ready to run for `waitedMs` while others had the CPU; `requests`: of the
 * worker to the object store, by method and kind.
 */
export type Composed = {
  status: string
  ms: number
  ranMs: number
  waitedMs: number
  requests: ReadonlyMap<string, number>
}

export type CompositionFigures = {
  operations: number
  files: number
  culprits: number
  slots: number
  redisVersion: string
  alone: readonly Composed[]
  broken: Composed
  beside: readonly Composed[]
  /** Operations of the busy run that ended meanwhile. */
  perSecond: number
  faults: readonly string[]
}

type Row = { name: string; rounds: readonly Composed[]; isAlone: boolean }

/** How much longer a composition may take beside a busy run. */
const aim = 2

const columns: readonly Column<Row>[] = [
  ['', ({ name }) => name],
  ['seconds', spread(({ rounds }) => rounds.map(({ ms }) => ms / 1_000), 1)],
  ['of which its thread ran', spread(({ rounds }) => rounds.map(({ ranMs }) => ranMs / 1_000), 1)],
  ['waited for a CPU', spread(({ rounds }) => rounds.map(({ waitedMs }) => waitedMs / 1_000), 1)],
  ['requests to the object store', requestsOf],
]

/** results/composition.md */
export function renderComposition(figures: CompositionFigures): string {
  const { operations, files, culprits, slots, alone, broken, beside, perSecond, faults, redisVersion } = figures
  const ratio = medianMs(beside) / medianMs(alone)
  const rows = [
    { name: 'alone', rounds: alone, isAlone: true },
    { name: `alone, ${culprits} change sets break their files`, rounds: [broken], isAlone: true },
    { name: 'beside a busy run', rounds: beside, isAlone: false },
  ]
  return `${sectionHead('Composing a run', { command: 'node bench/composition-bench.ts', redisVersion })}
Runs of ${operations} operations that have succeeded, each with a docstring for one of five functions of its file: ${files} composed files
with eight checks each. One worker with ${slots} slots. Beside it, the same worker does operations of three turns with a model that
answers after 0 to 50 ms: ${perSecond.toFixed(0)} a second, measured while the runs of the last row were prepared and composed. All share the machine. Medians (least–most) of ${alone.length}.

${table(columns, rows)}

The aim is at most ${aim} times the time alone: ${verdict(ratio <= aim)}, ${ratio.toFixed(1)} times.
${notProved(faults)}
`
}

function medianMs(rounds: readonly Composed[]): number {
  return median(rounds.map(({ ms }) => ms))
}

/** Left out beside a run: the requests of its operations cannot be distinguished from those of the composition. */
function requestsOf({ rounds: [first], isAlone }: Row): string {
  if (!isAlone || first === undefined) return ''
  return [...first.requests].map(([kind, count]) => `${count} ${kind}`).join(', ')
}
