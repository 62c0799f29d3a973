import { AppError } from '#domain/error.ts'
import type { Retention } from '#ledger/retention.ts'
import { retriedRuns, type RetriedDeps } from './retried-runs.ts'

export type ForgetDeps = RetriedDeps & {
  retention: RetriedDeps['retention'] & Pick<Retention, 'endedRuns' | 'forgetRun'>
  /** For how long an ended run is kept. */
  retentionMs: number
}

const pageLength = 100

/**
 * Forgets every run that ended longer ago than it is kept, and answers how many. One that a retry builds on stays as long
 * as that one, also when it was accepted just before, and one of a newer version stays for now.
 */
export async function forgetEndedRuns(deps: ForgetDeps, signal: AbortSignal): Promise<number> {
  const { retention, retentionMs } = deps
  let forgotten = 0
  let left = 0
  for (;;) {
    const runs = await retention.endedRuns({ agedMs: retentionMs, first: left, limit: pageLength })
    if (runs.length === 0) return forgotten
    const needed = await retriedRuns(deps)
    for (const run of runs) {
      signal.throwIfAborted()
      const answer = (await needed.includes(run.runId)) ? 'stays' : await retention.forgetRun(run).catch(newerStays)
      if (answer === 'stays') left += 1
      else if (answer === 'forgotten') forgotten += 1
    }
  }
}

function newerStays(error: unknown): 'stays' {
  if (error instanceof AppError && error.code === 'RUN_005') return 'stays'
  throw error
}
