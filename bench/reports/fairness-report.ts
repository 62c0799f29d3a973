import { type Column, median, notProved, sectionHead, spread, table, verdict } from './markdown-report.ts'

/** A run's waits in ms from when it was ready to run, by Redis' clock, as its own events have it. */
export type SmallRun = { firstStartMs: number; firstReplyMs: number; lastEndMs: number; succeeded: number }

export type FairnessFigures = {
  /** Of every turn. */
  latencyMs: number
  large: number
  alone: readonly SmallRun[]
  behind: readonly SmallRun[]
  /** Behind the large run with priority 0. */
  first: readonly SmallRun[]
  /** Behind the large run and another small one, with priority 0. */
  beside: readonly SmallRun[]
  faults: readonly string[]
}

type Side = { turnS: number; name: string; runs: readonly SmallRun[] }

const columns: readonly Column<Side>[] = [
  ['s for a turn', ({ turnS }) => turnS],
  ['a small run', ({ name }) => name],
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
turns. While a large run is under way, runs of ${small} operations are submitted, one after the other. Seconds from the
moment a small run is planned, by Redis' clock, medians (least–most). The fair share of a small run is half of the model, so twice the time that it needs
alone. The aims: the first reply within two turns of the model (and ${besidesMs / 1000} s for
everything else), and the end within 1.5 times the fair share.

${table(columns, all.flatMap(sidesOf))}

${all.map(verdictLine).join('\n')}
${notProved(all.flatMap(({ faults }) => faults))}`
}

function sidesOf({ latencyMs, large, alone, behind, first, beside }: FairnessFigures): Side[] {
  const turnS = latencyMs / 1000
  return [
    { turnS, name: 'with nothing else', runs: alone },
    { turnS, name: `behind ${large} operations`, runs: behind },
    { turnS, name: 'behind them, priority 0', runs: first },
    { turnS, name: 'behind them and another run of 50, priority 0', runs: beside },
  ]
}

function verdictLine({ latencyMs, alone, behind, first, beside }: FairnessFigures): string {
  const firstReply = Math.max(...[...behind, ...first, ...beside].map(({ firstReplyMs }) => firstReplyMs))
  const ends = (runs: readonly SmallRun[]) => median(runs.map(({ lastEndMs }) => lastEndMs))
  const ratio = ends(behind) / (2 * ends(alone))
  const reply = verdict(firstReply <= mostTurns * latencyMs + besidesMs)
  return `- ${latencyMs / 1000} s for a turn: first reply ${reply} in every round; end ${ratio.toFixed(2)} times the fair share, ${verdict(ratio <= mostOfFairShare)}.`
}
