import { AppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'

/** The run, when it is `projectId`'s. Another project's run is as unknown as one that never was: RUN_001. */
export async function findRun(runId: RunId, projectId: string, ledger: Pick<Ledger, 'getRun'>): Promise<Run> {
  const run = await ledger.getRun(runId)
  if (run.projectId !== projectId) throw new AppError('RUN_001', `There is no run "${runId}".`)
  return run
}
