import { AppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { Retention } from '#ledger/retention.ts'

export type RetriedDeps = {
  ledger: Pick<Ledger, 'activeRuns' | 'getRun'>
  retention: Pick<Retention, 'knownProjects' | 'retainedRuns'>
}

/** The runs that others build on. */
export type RetriedRuns = {
  /** Looks again at what was accepted since: one more question to Redis, unless there is something new. */
  includes(runId: RunId): Promise<boolean>
}

/**
 * Looks at every run that is not forgotten: a retry reads what the run before it did until its own end, and one that has
 * ended may be tried again.
 */
export async function retriedRuns({ ledger, retention }: RetriedDeps): Promise<RetriedRuns> {
  const seen = new Set<RunId>()
  const retried = new Set<RunId>()
  const follow = async (first: RunId): Promise<void> => {
    for (let runId: RunId | undefined = first; runId !== undefined && !seen.has(runId);) {
      const run: Run | undefined = await readable(runId, ledger)
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
    async includes(runId) {
      if (!retried.has(runId)) await followActive()
      return retried.has(runId)
    },
  }
}

/** A run that is just being accepted, or that a newer version made, names none that this version could know. */
async function readable(runId: RunId, ledger: RetriedDeps['ledger']): Promise<Run | undefined> {
  try {
    return await ledger.getRun(runId)
  } catch (error) {
    if (error instanceof AppError && (error.code === 'RUN_001' || error.code === 'RUN_005')) return undefined
    throw error
  }
}
