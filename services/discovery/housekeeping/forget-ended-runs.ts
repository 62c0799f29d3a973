import { undefinedOn } from '#domain/error.ts'
import type { Retention } from '#store/ledger/retention.ts'
import type { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'

export type ForgetDeps = RetriedDeps & {
  retention: RetriedDeps['retention'] & Pick<Retention, 'endedRuns' | 'forgetRun'>
  retentionMs: number
}

const pageLength = 100

/**
 * Forgets every run that ended longer ago than it is retained, and returns how many. A run that a retry builds on stays
 * as long as the retry, even one accepted a moment ago, and one whose pull request is open. A run of a newer version is not deleted.
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
      const stays = (await needed.includes(run.runId)) || (await hasOpenPull(run.runId, deps))
      const answer = stays ? undefined : await retention.forgetRun(run).catch(undefinedOn('RUN_005'))
      if (answer === undefined) left += 1
      else if (answer === 'forgotten') forgotten += 1
    }
  }
}

/** Is true when nobody has merged or closed a pull request of the run: later runs of its branch carry on what that has. */
async function hasOpenPull(runId: RunId, { ledger }: RetriedDeps): Promise<boolean> {
  const run = await ledger.getRun(runId).catch(undefinedOn('RUN_001', 'RUN_005'))
  return run?.publication?.pulls.some(({ state }) => state === 'open') ?? false
}

type RetriedDeps = {
  ledger: Pick<Ledger, 'activeRuns' | 'getRun'>
  retention: Pick<Retention, 'knownProjects' | 'retainedRuns'>
}

/** The runs that others build on: a retry reads what the run before it did, and may be retried once it has ended. */
async function retriedRuns({ ledger, retention }: RetriedDeps) {
  const seen = new Set<RunId>()
  const retried = new Set<RunId>()
  const follow = async (first: RunId): Promise<void> => {
    for (let runId: RunId | undefined = first; runId !== undefined && !seen.has(runId);) {
      // A run that is just being accepted, or that a newer version made, refers to no run that this version knows.
      const run: Run | undefined = await ledger.getRun(runId).catch(undefinedOn('RUN_001', 'RUN_005'))
      if (run === undefined) return
      seen.add(runId)
      runId = run.request.retryOf
      if (runId !== undefined) retried.add(runId)
    }
  }
  const followActive = async (): Promise<void> => {
    for (const { runId } of await ledger.activeRuns()) await follow(runId)
  }
  await followActive()
  for (const projectId of await retention.knownProjects()) {
    for (const runId of await retention.retainedRuns(projectId)) await follow(runId)
  }
  return {
    /** Also considers runs that were accepted since: one more command to Redis if there are none. */
    async includes(runId: RunId): Promise<boolean> {
      if (!retried.has(runId)) await followActive()
      return retried.has(runId)
    },
  }
}
