import { machineText, spreadText } from './markdown-report.ts'

/** How soon the small run's first operation is to start, in ms. */
const aimMs = 5_000

export type FairnessFigures = {
  slots: number
  large: number
  small: number
  /** Of the large run, when the first small one was submitted, and when the last one had ended. */
  largeEnded: { before: number; after: number }
  redisVersion: string
  alone: readonly SmallRun[]
  behind: readonly SmallRun[]
  faults: readonly string[]
}

export function renderFairness(figures: FairnessFigures): string {
  const { slots, large, small, largeEnded, alone, behind, faults } = figures
  const worst = Math.max(...behind.map(({ firstStartMs }) => firstStartMs))
  const row = (name: string, runs: readonly SmallRun[]) => {
    const cells = (['firstStartMs', 'lastStartMs', 'lastEndMs'] as const).map((key) =>
      spreadText(
        runs.map((run) => run[key] / 1000),
        2,
      ),
    )
    return `| ${name} | ${cells.join(' | ')} |`
  }
  return `# A small run behind a large one

${machineText('node bench/fairness-bench.ts', figures)}

One worker with ${slots} slots; a model that answers after 0 to 50 ms; operations of three turns. A run of ${large} operations is
under way (${largeEnded.before} had ended when the first small run was submitted, ${largeEnded.after} when the last one was done, the rest
waited). Then runs of ${small} operations are submitted, one after the other. Seconds from the moment a small run is planned, by
Redis' clock, medians (least–most) of ${behind.length}.

| | first operation starts | last one starts | last one ends |
| --- | --- | --- | --- |
${row('with nothing else', alone)}
${row(`behind ${large} operations`, behind)}

The aim is a first start within ${aimMs / 1000} s: ${worst <= aimMs ? 'met' : 'missed'} in every round.
${faults.map((fault) => `\n**Not proved:** ${fault}`).join('')}
`
}

/** A run's waits in ms from when it was ready to run, by Redis' clock: its own events say when things happened. */
export type SmallRun = { firstStartMs: number; lastStartMs: number; lastEndMs: number; succeeded: number }
