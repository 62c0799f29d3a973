import { type Column, notProved, sectionHead, spread, table, verdict } from './markdown-report.ts'

/** A run's waits in ms from when it was ready to run, by Redis' clock, as its own events have it. */
export type SmallRun = { firstStartMs: number; lastStartMs: number; lastEndMs: number; succeeded: number }

export type FairnessFigures = {
  slots: number
  large: number
  small: number
  /** Operations of the large run that had ended when the first small run was submitted, and after the last one. */
  largeEnded: { before: number; after: number }
  redisVersion: string
  alone: readonly SmallRun[]
  behind: readonly SmallRun[]
  faults: readonly string[]
}

type Side = { name: string; runs: readonly SmallRun[] }

/** How soon the small run's first operation is to start, in ms. */
const aimMs = 5_000

const columns: readonly Column<Side>[] = [
  ['', ({ name }) => name],
  ['first operation starts', spread(({ runs }) => runs.map(({ firstStartMs }) => firstStartMs / 1000), 2)],
  ['last one starts', spread(({ runs }) => runs.map(({ lastStartMs }) => lastStartMs / 1000), 2)],
  ['last one ends', spread(({ runs }) => runs.map(({ lastEndMs }) => lastEndMs / 1000), 2)],
]

/** results/fairness.md */
export function renderFairness(figures: FairnessFigures): string {
  const { slots, large, small, largeEnded, alone, behind, faults, redisVersion } = figures
  const worst = Math.max(...behind.map(({ firstStartMs }) => firstStartMs))
  const sides = [
    { name: 'with nothing else', runs: alone },
    { name: `behind ${large} operations`, runs: behind },
  ]
  return `${sectionHead('A small run behind a large one', { command: 'node bench/fairness-bench.ts', redisVersion })}
One worker with ${slots} slots; a model that answers after 0 to 50 ms; operations of three turns. A run of ${large} operations is
under way (${largeEnded.before} had ended when the first small run was submitted, ${largeEnded.after} when the last one was done, the rest
waited). Then runs of ${small} operations are submitted, one after the other. Seconds from the moment a small run is planned, by
Redis' clock, medians (least–most) of ${behind.length}.

${table(columns, sides)}

The aim is a first start within ${aimMs / 1000} s: ${verdict(worst <= aimMs)} in every round.
${notProved(faults)}
`
}
