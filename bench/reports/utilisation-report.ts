import { machineText, median, spreadText } from './markdown-report.ts'
import type { PeerFigures } from '../peers/measure-peer.ts'
import type { RunFigures } from '../remora/measure-run.ts'
import type { Utilisation } from '../model/load-meter.ts'

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

/** The share of the bare loop's busy slots that ours are to reach. */
const aim = 0.95

export function renderUtilisation(scale: UtilisationScale, rounds: readonly UtilisationRound[]): string {
  const { agents, warmup, slots, latencyMs } = scale
  const ratio = median(rounds.map(({ remora }) => remora.steady)) / median(rounds.map(({ bare }) => bare.steady))
  const faults = rounds.flatMap(({ bare, remora }) => [...bare.faults, ...remora.faults])
  return `# How busy one worker keeps the model

${machineText('node bench/utilisation-bench.ts', scale)}

The model answers after ${latencyMs} ms, in a process of its own. ${agents} agents of three turns, ${slots} at once: first as the bare undici
loop, then as operations of one worker process with ${slots} slots, ${rounds.length} rounds of both in turn after a warm-up of ${warmup} operations;
medians (least–most). A slot is busy while the model holds a request. *Steady* is the share of busy slots from the first
moment that all ${slots} were busy to the start of the last agent, by the integral of the requests the model held; *overall* is
agents × turns × ${latencyMs} ms over the whole wall time × ${slots}, with the start and the end in it.

| | steady | overall | operations/s | the model's own answer took, ms |
| --- | --- | --- | --- | --- |
${side(
  'bare undici loop',
  scale,
  rounds.map(({ bare }) => bare),
)}
${side(
  '**remora**',
  scale,
  rounds.map(({ remora }) => remora),
)}

Ratio of the medians, steady: **${ratio.toFixed(3)}**. The aim is ${aim}: ${ratio >= aim ? 'met' : 'missed'}.
${faults.map((fault) => `\n**Not proved:** ${fault}`).join('')}

## Where the CPU goes

| process | CPU ms per operation | share of one core |
| --- | --- | --- |
${cpuRows(scale, rounds).join('\n')}
`
}

function side(
  name: string,
  { agents }: UtilisationScale,
  rounds: readonly (Utilisation & { wallMs: number })[],
): string {
  const cells = [
    spreadText(
      rounds.map(({ steady }) => steady),
      3,
    ),
    spreadText(
      rounds.map(({ overall }) => overall),
      3,
    ),
    spreadText(
      rounds.map(({ wallMs }) => (agents / wallMs) * 1000),
      0,
    ),
    spreadText(
      rounds.map(({ meanLatencyMs }) => meanLatencyMs),
      1,
    ),
  ]
  return `| ${name} | ${cells.join(' | ')} |`
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

function cpuRows({ agents }: UtilisationScale, rounds: readonly UtilisationRound[]): string[] {
  const row = (name: string, figures: readonly { cpuMs: number; wallMs: number }[]) => {
    const perAgent = figures.map(({ cpuMs }) => cpuMs / agents)
    const share = figures.map(({ cpuMs, wallMs }) => cpuMs / wallMs)
    return `| ${name} | ${spreadText(perAgent, 2)} | ${spreadText(share, 2)} |`
  }
  const ours = rounds.map(({ remora }) => remora)
  const withCpu = (cpu: (figures: RunFigures) => number) =>
    ours.map((figures) => ({ wallMs: figures.wallMs, cpuMs: cpu(figures) }))
  const all = (figures: RunFigures) => processes.reduce((sum, [, cpu]) => sum + cpu(figures), 0)
  return [
    ...processes.map(([name, cpu]) => row(name, withCpu(cpu))),
    row('**all of these**', withCpu(all)),
    row(
      'beside them: the bare loop in its own round',
      rounds.map(({ bare }) => bare),
    ),
  ]
}
