import { type Column, median, notProved, sectionHead, spread, table, verdict } from './markdown-report.ts'

/** A run's waits in ms from when it was ready to run, by Redis' clock, as its own events have it. */
export type SmallRun = { firstStartMs: number; firstReplyMs: number; lastEndMs: number; succeeded: number }

export type FairnessFigures = {
  /** Of every turn. */
  latencyMs: number
  large: number
  /** Operations of the large run that had ended when the first small run was submitted, and after the last one. */
  largeEnded: { before: number; after: number }
  alone: readonly SmallRun[]
  behind: readonly SmallRun[]
  /** Behind the large run with priority 0. */
  first: readonly SmallRun[]
  /** Behind the large run and another small one, with priority 0. */
  beside: readonly SmallRun[]
  faults: readonly string[]
}

type Side = { name: string; runs: readonly SmallRun[] }

const columns: readonly Column<Side>[] = [
  ['', ({ name }) => name],
  ['first operation starts', spread(({ runs }) => runs.map(({ firstStartMs }) => firstStartMs / 1000), 2)],
  ['first reply of the model', spread(({ runs }) => runs.map(({ firstReplyMs }) => firstReplyMs / 1000), 2)],
  ['last operation ends', spread(({ runs }) => runs.map(({ lastEndMs }) => lastEndMs / 1000), 2)],
]

/** What happens besides the model's turn: a round of the dispatcher, preparing the operation, sending events. */
const besidesMs = 1000
const mostTurns = 2
const mostOfFairShare = 1.5

/** results/fairness.md */
export function renderFairness(
  all: readonly FairnessFigures[],
  { slots, small, redisVersion }: { slots: number; small: number; redisVersion: string },
): string {
  return `${sectionHead('A small run behind a large one', { command: 'node bench/fairness-bench.ts', redisVersion })}
One worker with ${slots} slots before a model that takes ${slots} requests at once and answers each after the same time; operations of three
turns. A large run has the model to itself. Then runs of ${small} operations are submitted, one after the other. Seconds from the
moment a small run is planned, by Redis' clock, medians (least–most). The fair share of a small run is half of the model: it should
end after twice the time that it needs alone. The aims: the first reply within two turns of the model (and ${besidesMs / 1000} s for
everything else), and the end within 1.5 times the fair share.
${all.map(renderOne).join('\n')}`
}

function renderOne({ latencyMs, large, largeEnded, alone, behind, first, beside, faults }: FairnessFigures): string {
  const sides = [
    { name: 'with nothing else', runs: alone },
    { name: `behind ${large} operations`, runs: behind },
    { name: 'behind them with priority 0', runs: first },
    { name: 'behind them and another run of 50, with priority 0', runs: beside },
  ]
  const firstReply = Math.max(...[...behind, ...first, ...beside].map(({ firstReplyMs }) => firstReplyMs))
  const ends = (runs: readonly SmallRun[]) => median(runs.map(({ lastEndMs }) => lastEndMs))
  const ratio = ends(behind) / (2 * ends(alone))
  return `
## ${latencyMs / 1000} s for a turn

${table(columns, sides)}

Of the large run ${largeEnded.before} operations had ended when the first small one was submitted, and ${largeEnded.after} when the last one was done.
First reply: ${verdict(firstReply <= mostTurns * latencyMs + besidesMs)} in every round. End: ${ratio.toFixed(2)} times the fair share, ${verdict(ratio <= mostOfFairShare)}.
${notProved(faults)}`
}
