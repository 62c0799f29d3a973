import { asAppError } from '#domain/error.ts'
import type { EventOrigin } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import type { RunPhase } from '#domain/run.ts'
import type { Ledger } from './ledger.ts'

/**
 * The stage that could not go on, and the phases of a run it is at work in: what it says of one that has moved on does
 * not count. `signal` is the end of its process, which is no fault of the run.
 */
export type FailedStage = { phases: readonly [RunPhase, ...RunPhase[]]; origin: EventOrigin; signal: AbortSignal }

/**
 * Ends a run for a fault of its input, bundles or objects, under the fault's own code. What may pass (a store out of
 * reach, a process that is stopping) is thrown on instead: the stage's job comes again. A run with open operations is
 * only stopped here: who ends those ends it.
 */
export async function failRun(
  runId: RunId,
  error: unknown,
  { phases, origin, signal }: FailedStage,
  ledger: Pick<Ledger, 'cancel' | 'move'>,
): Promise<void> {
  const [phase] = phases
  const fault = asAppError(error, 'TOOL_004', phase)
  if (fault.retry || signal.aborted) throw fault
  const { code: errorCode, message: reason } = fault
  const answer = await ledger.move(runId, {
    from: phases.flatMap((one) => [
      { status: 'queued', phase: one } as const,
      { status: 'running', phase: one } as const,
    ]),
    to: { status: 'failed' },
    command: 'fail',
    set: { errorCode, reason },
    events: [
      { event: 'run.failed', phase, status: 'error', errorCode, origin, data: { error_code: errorCode, reason } },
    ],
  })
  if (answer === 'open') await ledger.cancel(runId, { reason, errorCode, origin, phases })
}
