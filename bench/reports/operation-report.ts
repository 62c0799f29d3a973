import { turnsPerAgent } from '../model/play-agent.ts'
import type { PeerFigures } from '../peers/measure-peer.ts'
import type { Peer } from '../peers/run-peer.ts'
import type { RunFigures } from '../remora/measure-run.ts'
import type { ProfiledRun } from '../remora/profile-run.ts'
import { type Column, median, notProved, packageText, sectionHead, spread, table, verdict } from './markdown-report.ts'

export type PeerRound = PeerFigures & { peer: Peer; bodyBytes: number; faults: string[] }
export type Round = { remora: RunFigures; peers: PeerRound[] }
export type Scale = {
  operations: number
  warmup: number
  rounds: number
  concurrency: number
  tookMs: number
  redisVersion: string
}

/** The aim was set on another machine; what carries over from one machine to another is the ratio. */
const aim = { cpuMs: 3, floorMs: 0.2 }

/** results/operation.md: medians over the rounds, each ratio against the floor of its own round. */
export function renderOperation(scale: Scale, rounds: readonly Round[]): string {
  return `${heading(scale)}\n${mainTable(scale, rounds)}`
}

/** Says where the CPU goes: the other processes, and a profiled round. It is printed only. */
export function renderCosts(rounds: readonly Round[], profiled: ProfiledRun): string {
  return `${otherParts(rounds)}\n${profileTable(profiled)}`
}

function heading({ operations, warmup, rounds, concurrency, tookMs, redisVersion }: Scale): string {
  return `${sectionHead('What one operation costs', { command: 'node bench/operation-bench.ts', tookMs, redisVersion })}
An operation is an agent of three turns (\`read_file\`, \`write_file\`, \`submit_result\`) against a server that answers at once from
fixed bytes, without a model. ${operations} operations, ${concurrency} at once, one worker process,
${rounds} rounds after a warm-up of ${warmup} in the same worker; medians (min–max). Every operation has
a file of its own that no cache has seen.

CPU is user and system time of the worker and its script processes with everything a real run has: queue, claim, prompts, tools
in the sandbox, workspace, evidence by Ruff, records in the object store, and the ledger.
`
}

type Row = { name: string; cpu: number[]; perSecond: number[]; versus: number[]; bytes: number; proved: boolean }

const mainColumns: readonly Column<Row>[] = [
  ['', ({ name }) => name],
  ['CPU ms per operation', spread(({ cpu }) => cpu, 2)],
  ['against the floor of the round', spread(({ versus }) => versus, 1, '×')],
  ['operations/s', spread(({ perSecond }) => perSecond, 0)],
  ['bytes per request', ({ bytes }) => bytes.toFixed(0)],
  ['proved', ({ proved }) => (proved ? 'yes' : 'NO')],
]

function mainTable({ operations, warmup }: Scale, rounds: readonly Round[]): string {
  const floors = rounds.map((round) => round.peers[0]?.cpuMs ?? Number.NaN)
  const ours: Row = {
    name: '**remora: worker and scripts**',
    cpu: rounds.map(({ remora }) => perOperation(remora, remora.workerCpu + remora.scriptCpu)),
    perSecond: rounds.map(({ remora }) => (operations / remora.wallMs) * 1000),
    versus: rounds.map(({ remora }, index) => (remora.workerCpu + remora.scriptCpu) / (floors[index] ?? Number.NaN)),
    bytes: median(rounds.map(({ remora }) => remora.bodyBytes / (turnsPerAgent * operations))),
    proved: rounds.every(({ remora }) => remora.faults.length === 0),
  }
  const peers = (rounds[0]?.peers ?? []).map(({ peer }, at): Row => {
    const measured = rounds.flatMap((round) => round.peers.slice(at, at + 1))
    return {
      name: `${peer.name}, ${peer.packages.map((name) => packageText(name)).join(', ')}`,
      cpu: measured.map(({ cpuMs }) => cpuMs / operations),
      perSecond: measured.map(({ wallMs }) => (operations / wallMs) * 1000),
      versus: measured.map(({ cpuMs }, index) => cpuMs / (floors[index] ?? Number.NaN)),
      bytes: median(measured.map(({ bodyBytes }) => bodyBytes / (turnsPerAgent * (operations + warmup)))),
      proved: measured.every(({ faults }) => faults.length === 0),
    }
  })
  const faults = rounds.flatMap(({ remora, peers: others }) => [remora, ...others].flatMap((one) => one.faults))
  return `${table(mainColumns, [ours, ...peers])}

Proved: the server saw exactly the three requests of every operation, and \`remora verify\` found nothing.
The peers keep their files in memory, store nothing, check nothing and survive nothing.

${aimText(ours)}
${notProved(faults)}`
}

function aimText({ cpu, versus }: Row): string {
  const floors = aim.cpuMs / aim.floorMs
  return `The aim is at most ${aim.cpuMs} ms, set where the floor took ${aim.floorMs.toFixed(2)} ms, which is ${floors.toFixed(0)} floors. Here: ${verdict(median(cpu) <= aim.cpuMs)} in
milliseconds (${median(cpu).toFixed(2)}), ${verdict(median(versus) <= floors)} in floors (${median(versus).toFixed(1)}). The floor's own spread shows how far to trust either.`
}

const parts = [
  ['worker process alone', 'workerCpu'],
  ['script processes alone', 'scriptCpu'],
  ['Redis', 'redisCpu'],
  ['embedded S3 server', 's3Cpu'],
  ['dispatcher (with the bench itself)', 'dispatcherCpu'],
  ['fake model server', 'modelCpu'],
  ['composition: the worker, once per run, after its operations', 'compositionCpu'],
] as const

function otherParts(rounds: readonly Round[]): string {
  const columns: readonly Column<(typeof parts)[number]>[] = [
    ['', ([name]) => name],
    ['CPU ms per operation', spread(([, key]) => rounds.map(({ remora }) => perOperation(remora, remora[key])), 2)],
  ]
  return `${table(columns, parts)}\n`
}

function profileTable({ figures, areas, storeRequests }: ProfiledRun): string {
  const main = perOperation(figures, figures.workerMainCpu)
  const threads = perOperation(figures, figures.workerCpu) - main
  const scripts = perOperation(figures, figures.scriptCpu)
  const total = main + threads + scripts
  const requests = [...storeRequests].map(([kind, times]) => `${kind} ${(times / figures.operations).toFixed(2)}`)
  const columns: readonly Column<readonly [area: string, ms: number]>[] = [
    ['area', ([area]) => area],
    ['CPU ms', ([, ms]) => ms.toFixed(2)],
    ['share', ([, ms]) => `${((ms / total) * 100).toFixed(0)} %`],
  ]
  const rows = [
    ...Array.from(areas, ([area, share]) => [area, share * main] as const),
    ['other threads of the worker: Ruff, garbage collection, the profiler', threads] as const,
    ['script processes', scripts] as const,
  ]
  return `One round under V8's profiler: ${total.toFixed(2)} CPU ms per operation; the worker's main thread is split by samples.
Requests to the object store per operation: ${requests.join(', ')}.

${table(columns, rows)}
`
}

function perOperation({ operations }: RunFigures, cpu: number): number {
  return cpu / operations
}
