import { undefinedOn } from '#domain/error.ts'
import type { Retention } from '#store/ledger/retention.ts'
import type { RunId } from '#domain/ids.ts'
import type { Ledger } from '#store/ledger/ledger.ts'

export type ForgetDeps = {
  ledger: Pick<Ledger, 'getRun'>
  retention: Pick<Retention, 'endedRuns' | 'forgetRun'>
  retentionMs: number
}

const pageLength = 100

/**
 * Forgets every run that ended longer ago than it is retained, and returns how many. One whose pull request is open stays, and so does one
 * that was reopened in the meantime. A run of a newer version is not deleted.
 */
export async function forgetEndedRuns(deps: ForgetDeps, signal: AbortSignal): Promise<number> {
  const { retention, retentionMs } = deps
  let forgotten = 0
  let left = 0
  for (;;) {
    const runs = await retention.endedRuns({ agedMs: retentionMs, first: left, limit: pageLength })
    if (runs.length === 0) return forgotten
    for (const run of runs) {
      signal.throwIfAborted()
      const answer = (await hasOpenPull(run.runId, deps))
        ? undefined
        : await retention.forgetRun(run).catch(undefinedOn('RUN_005'))
      if (answer === undefined) left += 1
      else if (answer === 'forgotten') forgotten += 1
    }
  }
}

/** Is true when nobody has merged or closed a pull request of the run: later runs of its branch carry on what that has. */
async function hasOpenPull(runId: RunId, { ledger }: ForgetDeps): Promise<boolean> {
  const run = await ledger.getRun(runId).catch(undefinedOn('RUN_001', 'RUN_005'))
  return run?.publication?.pulls.some(({ state }) => state === 'open') ?? false
}
