import { type Column, notProved, sectionHead, table, verdict } from './markdown-report.ts'

export type OutageFigures = {
  how: string
  operations: number
  awayS: number
  /** Operations that did not succeed: of the large run, and of the one submitted meanwhile. */
  failed: number
  failedMeanwhile: number
  /** Until both runs said that they wait. */
  waitingAfterS: number
  /** From the server's return to the first request of an agent. */
  firstRequestS: number
  /** CPU of the worker, and of this process, which dispatches, while both runs waited: shares of one core. */
  workerCpu: number
  dispatcherCpu: number
  /** Attempts that were handed back. */
  handedBack: number
}

const columns: readonly Column<OutageFigures>[] = [
  ['the model', ({ how }) => how],
  ['away, s', ({ awayS }) => awayS.toFixed(0)],
  ['operations', ({ operations }) => operations],
  ['not succeeded', ({ failed }) => failed],
  ['of the 50 submitted meanwhile', ({ failedMeanwhile }) => failedMeanwhile],
  ['both wait after, s', ({ waitingAfterS }) => waitingAfterS.toFixed(1)],
  ['handed back', ({ handedBack }) => handedBack],
  ['worker, of a core', ({ workerCpu }) => `${(100 * workerCpu).toFixed(1)} %`],
  ['dispatcher, of a core', ({ dispatcherCpu }) => `${(100 * dispatcherCpu).toFixed(1)} %`],
  ['first request after, s', ({ firstRequestS }) => firstRequestS.toFixed(1)],
]

const aimS = 5

/** results/outage.md */
export function renderOutages(
  rows: readonly OutageFigures[],
  { redisVersion, slots }: { redisVersion: string; slots: number },
): string {
  const worst = Math.max(...rows.map(({ firstRequestS }) => firstRequestS))
  const lost = rows.reduce((sum, { failed, failedMeanwhile }) => sum + failed + failedMeanwhile, 0)
  return `${sectionHead('A model that is away', { command: 'node bench/outage-bench.ts', redisVersion })}
One worker with ${slots} slots, three operations open for each, default time limits; the only model server stops working while a run is
under way, and a run of 50 operations is submitted meanwhile. Operations have three turns. CPU is that from when both runs wait
to the server's return; the dispatcher's includes the fake server.

${table(columns, rows)}

Every operation is to succeed: ${verdict(lost === 0)}. The first request is to come within ${aimS} s after the server is back: ${verdict(worst <= aimS)}.
${notProved([])}
`
}
