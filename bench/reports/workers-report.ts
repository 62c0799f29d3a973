import { loadavg } from 'node:os'
import { type Column, notProved, sectionHead, spread, table, verdict } from './markdown-report.ts'

/** Operations of one project that ended while all were under way. */
export type ProjectShare = { project: string; ended: number }

/** Memory of each worker with its processes, in MB. */
export type WorkersFigures = {
  workers: number
  idleMb: readonly number[]
  workingMb: readonly number[]
  composedMb: readonly number[]
  /** The share of the model's limit that was used. */
  used: number
  shares: readonly ProjectShare[]
  faults: readonly string[]
}

export type WorkersScale = {
  slots: number
  limit: number
  operations: number
  latencyMs: number
  warmMs: number
  windowMs: number
  redisVersion: string
}

const aims = { usedShare: 0.9, deviation: 0.1, workerMb: 200 }

/** results/workers.md */
export function renderWorkers(scale: WorkersScale, figures: WorkersFigures): string {
  const { slots, limit, operations, latencyMs, warmMs, windowMs, redisVersion } = scale
  const { workers, used, faults } = figures
  const most = Math.max(...figures.idleMb, ...figures.workingMb)
  const farthest = Math.max(...deviationsOf(figures.shares))
  return `${sectionHead('Many workers of few slots', { command: 'node bench/workers-bench.ts', redisVersion })}
${workers} worker processes with ${slots} slots each, on this machine with everything else; a model that answers each turn after
${latencyMs} ms and takes ${limit} requests at once. After a run that warms them up, five projects submit a run of ${operations}
operations of three turns at the same
time. Measured for ${windowMs / 1000} s from ${warmMs / 1000} s after that. When this was written, the load of the machine was ${loadavg()
    .map((load) => load.toFixed(0))
    .join(', ')}
(1, 5 and 15 minutes), other programs included.

| | | aim | |
| --- | --- | --- | --- |
| used of the model's limit | ${used.toFixed(3)} | ≥ ${aims.usedShare} | ${verdict(used >= aims.usedShare)} |
| largest distance of a project from its fair share | ${(farthest * 100).toFixed(1)} % | ≤ ${aims.deviation * 100} % | ${verdict(farthest <= aims.deviation)} |
| most memory of a worker, idle and at work | ${most.toFixed(0)} MB | ≤ ${aims.workerMb} MB | ${verdict(most <= aims.workerMb)} |

${sharesTable(figures.shares)}

Memory of one worker with its script process (PSS: what several processes share counts in part), MB, median (least–most). They run
from the sources; in the image a script process takes 15 MB less.

${memoryTable(figures)}
${notProved(faults)}
`
}

function deviationsOf(shares: readonly ProjectShare[]): number[] {
  const fair = shares.reduce((sum, { ended }) => sum + ended, 0) / shares.length
  return shares.map(({ ended }) => Math.abs(ended / fair - 1))
}

function sharesTable(shares: readonly ProjectShare[]): string {
  const fair = shares.reduce((sum, { ended }) => sum + ended, 0) / shares.length
  const columns: readonly Column<ProjectShare>[] = [
    ['project', ({ project }) => project],
    ['operations that ended', ({ ended }) => ended],
    ['of its fair share', ({ ended }) => (ended / fair).toFixed(3)],
  ]
  return table(columns, shares)
}

function memoryTable({ idleMb, workingMb, composedMb }: WorkersFigures): string {
  type Moment = { name: string; mb: readonly number[] }
  const columns: readonly Column<Moment>[] = [
    ['', ({ name }) => name],
    ['MB', spread(({ mb }) => mb, 0)],
  ]
  return table(columns, [
    { name: 'idle', mb: idleMb },
    { name: 'at work', mb: workingMb },
    { name: 'when the runs have been composed, by some of them', mb: composedMb },
  ])
}
