import { AppError } from '#domain/error.ts'
import type { Retention } from '#ledger/retention.ts'
import type { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'

export type ForgetDeps = RetriedDeps & {
  retention: RetriedDeps['retention'] & Pick<Retention, 'endedRuns' | 'forgetRun'>
  /** How long an ended run is retained. */
  retentionMs: number
}

const pageLength = 100

/**
 * Forgets every run that ended longer ago than it is retained, and returns how many. One that a retry builds on stays
 * as long as that one, also when it was accepted just before, and one of a newer version stays for now.
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

type RetriedDeps = {
  ledger: Pick<Ledger, 'activeRuns' | 'getRun'>
  retention: Pick<Retention, 'knownProjects' | 'retainedRuns'>
}

/**
 * The runs that others build on: a retry reads what the run before it did until its own end, and one that has ended may
 * be tried again.
 */
async function retriedRuns({ ledger, retention }: RetriedDeps) {
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
    /** Looks again at what was accepted since: one more question to Redis, unless there is something new. */
    async includes(runId: RunId): Promise<boolean> {
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
