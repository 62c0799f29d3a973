import type { Utilisation } from '../model/load-meter.ts'
import type { PeerFigures } from '../peers/measure-peer.ts'
import type { RunFigures } from '../remora/measure-run.ts'
import { type Column, median, notProved, sectionHead, spread, table, verdict } from './markdown-report.ts'

export type UtilisationRound = {
  bare: Utilisation & PeerFigures & { faults: string[] }
  remora: Utilisation & RunFigures
}

export type UtilisationScale = {
  agents: number
  warmup: number
  rounds: number
  slots: number
  latencyMs: number
  redisVersion: string
}

/** The share of the bare loop's busy slots that ours is to reach. */
const aim = 0.95

/** results/utilisation.md */
export function renderUtilisation(scale: UtilisationScale, rounds: readonly UtilisationRound[]): string {
  const { agents, warmup, slots, latencyMs, redisVersion } = scale
  const ratio = median(rounds.map(({ remora }) => remora.steady)) / median(rounds.map(({ bare }) => bare.steady))
  const faults = rounds.flatMap(({ bare, remora }) => [...bare.faults, ...remora.faults])
  return `${sectionHead('How busy one worker keeps the model', { command: 'node bench/utilisation-bench.ts', redisVersion })}
The model answers after ${latencyMs} ms, in a process of its own. ${agents} agents of three turns, ${slots} at once: first as the bare undici
loop, then as operations of one worker process with ${slots} slots, ${rounds.length} rounds of both in turn after a warm-up of ${warmup} operations;
medians (least–most). *Steady* is the share of busy slots from the first
moment that all ${slots} were busy to the start of the last agent; *overall* is
agents × turns × ${latencyMs} ms over the whole wall time × ${slots}, with the start and the end in it.

${sidesTable(scale, rounds)}

Ratio of the medians, steady: **${ratio.toFixed(3)}**. The aim is ${aim}: ${verdict(ratio >= aim)}.
${notProved(faults)}`
}

function sidesTable({ agents }: UtilisationScale, rounds: readonly UtilisationRound[]): string {
  type Side = { name: string; rounds: (Utilisation & { wallMs: number })[] }
  const columns: readonly Column<Side>[] = [
    ['', ({ name }) => name],
    ['steady', spread((side) => side.rounds.map(({ steady }) => steady), 3)],
    ['overall', spread((side) => side.rounds.map(({ overall }) => overall), 3)],
    ['operations/s', spread((side) => side.rounds.map(({ wallMs }) => (agents / wallMs) * 1000), 0)],
    ["the model's own answer took, ms", spread((side) => side.rounds.map(({ meanLatencyMs }) => meanLatencyMs), 1)],
  ]
  return table(columns, [
    { name: 'bare undici loop', rounds: rounds.map(({ bare }) => bare) },
    { name: '**remora**', rounds: rounds.map(({ remora }) => remora) },
  ])
}

const processes: readonly (readonly [name: string, cpu: (figures: RunFigures) => number])[] = [
  ['worker: main thread', ({ workerMainCpu }) => workerMainCpu],
  ['worker: Ruff, garbage collection', ({ workerCpu, workerMainCpu }) => workerCpu - workerMainCpu],
  ['script processes', ({ scriptCpu }) => scriptCpu],
  ['Redis', ({ redisCpu }) => redisCpu],
  ['embedded S3 server', ({ s3Cpu }) => s3Cpu],
  ['dispatcher (with the bench itself)', ({ dispatcherCpu }) => dispatcherCpu],
  ['fake model server', ({ modelCpu }) => modelCpu],
]

/** Says where the CPU goes, process by process. It is printed only. */
export function renderProcesses({ agents }: UtilisationScale, rounds: readonly UtilisationRound[]): string {
  type Row = { name: string; rounds: { cpuMs: number; wallMs: number }[] }
  const columns: readonly Column<Row>[] = [
    ['process', ({ name }) => name],
    ['CPU ms per operation', spread((row) => row.rounds.map(({ cpuMs }) => cpuMs / agents), 2)],
    ['share of one core', spread((row) => row.rounds.map(({ cpuMs, wallMs }) => cpuMs / wallMs), 2)],
  ]
  const ours = (name: string, cpu: (figures: RunFigures) => number): Row => ({
    name,
    rounds: rounds.map(({ remora }) => ({ wallMs: remora.wallMs, cpuMs: cpu(remora) })),
  })
  return table(columns, [
    ...processes.map(([name, cpu]) => ours(name, cpu)),
    ours('**all of these**', (figures) => processes.reduce((sum, [, cpu]) => sum + cpu(figures), 0)),
    { name: 'for comparison: the bare loop in its own round', rounds: rounds.map(({ bare }) => bare) },
  ])
}
