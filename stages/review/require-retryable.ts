import { AppError } from '#domain/error.ts'
import { type ModelKind, requireSameModel } from '#domain/model-kind.ts'
import { isEnded, type Run, type WantedWork } from '#domain/run.ts'

/** Checks what any reopening that somebody asks for needs. RUN_006 while the run goes on; RUN_009 where this stack has another kind of model. */
export function requireRetryable(run: Run, kind: ModelKind | undefined): void {
  if (!isEnded(run.status)) throw goesOn(run)
  requireSameModel({ runId: run.runId, labels: run.request.labels }, kind)
}

export function goesOn({ runId }: Pick<Run, 'runId'>): AppError {
  return new AppError('RUN_006', `Run "${runId}" has not ended: there is nothing to retry.`)
}

const notWell = ['failed', 'blocked', 'skipped', 'cancelled'] as const

/**
 * Says what a reopening does that names nothing: what did not end well. A generation that ended before it was planned is asked for again. INTAKE_007
 * where all of the run ended well. A run may also have ended before its patch was composed.
 */
export function wantedAgain({ runId, status, compositionKey, counts, isPlanned, wanted }: Run): WantedWork {
  const isComposed = status === 'completed' && compositionKey !== null
  if (isComposed && notWell.every((one) => (counts[one] ?? 0) === 0))
    throw new AppError('INTAKE_007', `No operation of run "${runId}" failed: there is nothing to retry.`)
  return isPlanned ? {} : (wanted ?? { unplanned: true })
}
