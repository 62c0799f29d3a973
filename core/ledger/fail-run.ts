import { asAppError } from '#domain/error.ts'
import type { EventOrigin } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { isEndedOperation, operationStatuses } from '#domain/operation.ts'
import type { RunPhase } from '#domain/run.ts'
import type { Ledger } from './ledger.ts'

const openStatuses = operationStatuses.filter((status) => !isEndedOperation(status))

/** The stage that could not go on. `signal` is the end of its process, which is no fault of the run. */
export type FailedStage = { phase: RunPhase; origin: EventOrigin; signal: AbortSignal }

/**
 * Ends a run for a fault of its input, bundles or objects, under the fault's own code. What may pass (a store out of
 * reach, a process that is stopping) is thrown on instead: the stage's job comes again. A run with open operations is
 * only stopped here: who ends those ends it.
 */
export async function failRun(
  runId: RunId,
  error: unknown,
  { phase, origin, signal }: FailedStage,
  ledger: Pick<Ledger, 'cancel' | 'getRun' | 'move'>,
): Promise<void> {
  const fault = asAppError(error, 'TOOL_004', phase)
  if (fault.retry || signal.aborted) throw fault
  const { code: errorCode, message: reason } = fault
  const { counts } = await ledger.getRun(runId)
  if (openStatuses.some((status) => (counts[status] ?? 0) > 0)) {
    await ledger.cancel(runId, { reason, errorCode, origin })
    return
  }
  await ledger.move(runId, {
    from: [{ status: 'queued' }, { status: 'running' }],
    to: { status: 'failed' },
    command: 'fail',
    set: { errorCode, reason },
    events: [
      { event: 'run.failed', phase, status: 'error', errorCode, origin, data: { error_code: errorCode, reason } },
    ],
  })
}
