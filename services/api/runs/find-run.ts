import { AppError } from '#domain/error.ts'
import { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'

/** The run, when it is `projectId`'s. Another project's run is as unknown as one that never was: RUN_001. */
export async function findRun(runId: string, projectId: string, ledger: Pick<Ledger, 'getRun'>): Promise<Run> {
  const id = RunId.safeParse(runId)
  const run = id.success ? await ledger.getRun(id.data) : undefined
  if (run?.projectId !== projectId) throw new AppError('RUN_001', `There is no run "${runId.slice(0, 64)}".`)
  return run
}
