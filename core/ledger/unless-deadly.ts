import { AppError } from '#domain/error.ts'
import type { EventOrigin } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { failRun, type FailedStage } from './fail-run.ts'
import type { Ledger } from './ledger.ts'

/** A stage of a run whose process fell silent so often in the midst of it may be what ends its processes. */
const deadlyStalls = 5

export type StageTry = Pick<FailedStage, 'phases' | 'signal'> & {
  origin: EventOrigin
  /** How often a process that was at it fell silent. */
  stalls: number
}

/** Does the stage, unless it has cost five processes: then the run fails with TOOL_004. */
export async function unlessDeadly(
  runId: RunId,
  { stalls, ...stage }: StageTry,
  ledger: Pick<Ledger, 'cancel' | 'move'>,
  work: () => Promise<void>,
): Promise<void> {
  if (stalls < deadlyStalls) return work()
  const fault = new AppError('TOOL_004', `the process that worked on its ${stage.phases[0]} died ${stalls} times`)
  return failRun(runId, fault, stage, ledger)
}
