import { AppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { Retention } from '#ledger/retention.ts'

export type RetriedDeps = {
  ledger: Pick<Ledger, 'activeRuns' | 'getRun'>
  retention: Pick<Retention, 'knownProjects' | 'retainedRuns'>
}

/**
 * The runs that others build on: a retry reads what the run before it did until its own end, and one that has ended may
 * be tried again.
 */
export async function retriedRuns({ ledger, retention }: RetriedDeps): Promise<ReadonlySet<RunId>> {
  const retried = new Set<RunId>()
  const known = (await ledger.activeRuns()).map(({ runId }) => runId)
  for (const projectId of await retention.knownProjects()) known.push(...(await retention.retainedRuns(projectId)))
  for (const runId of known) {
    let former = await formerOf(runId, ledger)
    while (former !== undefined && !retried.has(former)) {
      retried.add(former)
      former = await formerOf(former, ledger)
    }
  }
  return retried
}

/** A run that is just being accepted, or that a newer version made, names none that this version could know. */
async function formerOf(runId: RunId, ledger: RetriedDeps['ledger']): Promise<RunId | undefined> {
  try {
    return (await ledger.getRun(runId)).request.retryOf
  } catch (error) {
    if (error instanceof AppError && (error.code === 'RUN_001' || error.code === 'RUN_005')) return undefined
    throw error
  }
}
