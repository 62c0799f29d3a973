import { describeFault } from './fault.ts'
import type { HistoryOutcome } from './run-history.ts'

/** `seed 17  4 faults (kill_worker, wipe_queues …)  2 runs  61 operations  5 retried  3 answered  4.1 s  0 violations` */
export function historyLine(outcome: HistoryOutcome): string {
  const { history, runs, operations, retried, answered, durationMs, violations } = outcome
  const kinds = history.faults.map(({ kind }) => kind).join(', ')
  return [
    `seed ${history.seed}`,
    `${history.faults.length} faults (${kinds})`,
    `${runs.length} runs`,
    `${operations} operations`,
    `${retried} retried`,
    `${answered} answered`,
    `${(durationMs / 1000).toFixed(1)} s`,
    `${violations.length} violations`,
  ].join('  ')
}

/** What is needed to play the history again and to look into what it left in `folder`. */
export function failureText({ history, met, violations }: HistoryOutcome, folder: string): string {
  const { seed, latencyMs, submissions, faults } = history
  const schedule = met.length > 0 ? met : faults.map(describeFault)
  return [
    `  again: npm run chaos -- --seed ${seed} --runs 1`,
    `  folder: ${folder}`,
    `  model latency ${latencyMs} ms`,
    ...submissions.map(({ atMs, request }) => `  ${atMs} ms submission ${JSON.stringify(request)}`),
    ...schedule.map((line) => `  ${line}`),
    ...violations.map((violation) => `  VIOLATION ${violation}`),
  ].join('\n')
}

/** `200 histories, 871 faults, 0 violations` */
export function totalsLine(outcomes: readonly HistoryOutcome[]): string {
  const faults = outcomes.flatMap(({ history }) => history.faults).length
  const violations = outcomes.flatMap((outcome) => outcome.violations).length
  return `${outcomes.length} histories, ${faults} faults, ${violations} violations`
}
