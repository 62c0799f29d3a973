import { loadavg } from 'node:os'
import { notProved, sectionHead, spread, verdict } from './markdown-report.ts'

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
  const { workers, used, faults, idleMb, workingMb, composedMb } = figures
  const most = Math.max(...idleMb, ...workingMb)
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

Memory of one worker with its script process (PSS), median (least–most), in MB: idle ${mbText(idleMb)}, at work ${mbText(workingMb)}, after the
composition of runs ${mbText(composedMb)}. In the image a script process takes 15 MB less.
${notProved(faults)}
`
}

function deviationsOf(shares: readonly ProjectShare[]): number[] {
  const fair = shares.reduce((sum, { ended }) => sum + ended, 0) / shares.length
  return shares.map(({ ended }) => Math.abs(ended / fair - 1))
}

const mbText = (mb: readonly number[]) => spread(() => mb, 0)(undefined)
