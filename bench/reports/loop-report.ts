import type { LoopScale, Measured, ProfiledLoop, RunnerRounds } from '../peers/loop-rounds.ts'
import { clientRunner, floorRunner, frameworkRunners, ourRunner, type Peer } from '../peers/run-peer.ts'
import { type Column, median, packageText, sectionHead, spread, table, verdict } from './markdown-report.ts'

export type LoopFigures = { scale: LoopScale; rows: readonly RunnerRounds[] }

/** The most CPU ms an agent of ours is to take, and the least share of the bare loop's busy slots. */
const aims = { cpuMs: 0.6, utilisation: 0.97 }

/** results/loop.md: medians over the rounds; what is compared was measured in the same round. */
export function renderLoop(fast: LoopFigures, slow: LoopFigures): string {
  return [heading(fast.scale), cpuTable(fast), utilisationTable(slow), faultsText(fast, slow)].join('\n')
}

function heading({ agents, warmup, rounds, concurrency }: LoopScale): string {
  return `${sectionHead('What the loop and the model pool cost', { command: 'npm run bench -- --only loop' })}
An agent of three turns (\`read_file\`, \`write_file\`, \`submit_result\`) against a server that answers from fixed bytes,
without a model. ${agents} agents, ${concurrency} at once, in one process, after a warm-up of ${warmup}; ${rounds} rounds,
interleaved, a fresh process each; medians (least–most). Same prompts and tools, files
in memory. Ours also checks arguments, keeps limits, a transcript and events; its slots are its own, and nothing is proved or stored.
CPU is user and system time of the process without imports and warm-up.
`
}

const nameColumn: Column<RunnerRounds> = ['', ({ runner }) => nameOf(runner)]
const provedColumn: Column<RunnerRounds> = [
  'proved',
  ({ measured }) => (measured.every(({ faults }) => faults.length === 0) ? 'yes' : 'NO'),
]

function spreadOf(figure: (one: Measured) => number, digits: number): (row: RunnerRounds) => string {
  return spread(({ measured }) => measured.map(figure), digits)
}

function cpuTable({ scale, rows }: LoopFigures): string {
  const { agents, warmup, concurrency } = scale
  const floors = measuredOf(rows, floorRunner)
  const ratios = ({ measured }: RunnerRounds) =>
    measured.map(({ cpuMs }, index) => cpuMs / (floors[index]?.cpuMs ?? Number.NaN))
  const bytesPerRequest = ({ measured }: RunnerRounds) =>
    median(measured.map(({ bodyBytes }) => bodyBytes / (3 * (agents + warmup))))
  const columns: readonly Column<RunnerRounds>[] = [
    nameColumn,
    ['CPU ms per agent', spreadOf(({ cpuMs }) => cpuMs / agents, 2)],
    ['against the floor of the round', spread(ratios, 1, '×')],
    ['agents/s', spreadOf(({ wallMs }) => (agents / wallMs) * 1000, 0)],
    ['bytes per request', (row) => bytesPerRequest(row).toFixed(0)],
    provedColumn,
  ]
  return `## At once, ${concurrency} agents together

${table(columns, rows)}

Proved: the server saw exactly the three requests of every agent.
${cpuAim(rows, scale)}
`
}

function cpuAim(rows: readonly RunnerRounds[], { agents }: LoopScale): string {
  const perAgent = (runner: Peer) => median(measuredOf(rows, runner).map(({ cpuMs }) => cpuMs / agents))
  const [ours, client] = [perAgent(ourRunner), perAgent(clientRunner)]
  return `Aims: at most ${aims.cpuMs} ms: **${verdict(ours <= aims.cpuMs)}** (${ours.toFixed(2)}); below the bare openai client: **${verdict(ours < client)}** (${ours.toFixed(2)} against ${client.toFixed(2)}).`
}

function utilisationTable({ scale, rows }: LoopFigures): string {
  const { agents, rounds, concurrency, latencyMs } = scale
  const columns: readonly Column<RunnerRounds>[] = [
    nameColumn,
    ['steady', spreadOf(({ steady }) => steady, 3)],
    ['overall', spreadOf(({ overall }) => overall, 3)],
    ['CPU ms per agent', spreadOf(({ cpuMs }) => cpuMs / agents, 2)],
    ["the server's own answer took, ms", spreadOf(({ meanLatencyMs }) => meanLatencyMs, 1)],
    provedColumn,
  ]
  const steadyOf = (runner: Peer) => median(measuredOf(rows, runner).map(({ steady }) => steady))
  const ratio = steadyOf(ourRunner) / steadyOf(floorRunner)
  return `## A model of ${latencyMs} ms, ${concurrency} agents together

${agents} agents, ${rounds} rounds. *Steady* is the share of slots in which the server held a request, from the first moment that all ${concurrency}
were busy to the start of the last agent; *overall* is over the whole time, including the start and the end.

${table(columns, rows)}

Aim: at least ${aims.utilisation} of the bare loop's steady share: **${verdict(ratio >= aims.utilisation)}** (${ratio.toFixed(3)}).
`
}

function faultsText(...figures: readonly LoopFigures[]): string {
  const faults = figures.flatMap(({ rows }) =>
    rows.flatMap(({ runner, measured }) => measured.flatMap((one) => one.faults.map((fault) => ({ runner, fault })))),
  )
  return faults.map(({ runner, fault }) => `**Not proved:** ${runner.name}: ${fault}\n`).join('\n')
}

/** Says where the CPU of ours goes, as one more round under V8's profiler has it. It is printed only. */
export function renderAreas({ cpuMsPerAgent, areas }: ProfiledLoop): string {
  const columns: readonly Column<readonly [area: string, share: number]>[] = [
    ['area', ([area]) => area],
    ['CPU ms per agent', ([, share]) => (share * cpuMsPerAgent).toFixed(3)],
    ['share', ([, share]) => `${(share * 100).toFixed(0)} %`],
  ]
  return `${cpuMsPerAgent.toFixed(2)} CPU ms per agent under the profiler, by the main thread's samples:

${table(columns, [...areas])}
`
}

function measuredOf(rows: readonly RunnerRounds[], runner: Peer): Measured[] {
  return rows.find((one) => one.runner === runner)?.measured ?? []
}

function nameOf(runner: Peer): string {
  const folder = frameworkRunners.includes(runner) ? '../../bench/frameworks/' : '../../'
  return `${runner.name}, ${runner.packages.map((name) => packageText(name, folder)).join(', ')}`
}
