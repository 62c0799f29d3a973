import { asAppError } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { RunPhase } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'

/**
 * Ends a run for a fault of its input or bundles, under the fault's own code. A fault that may pass (a store out of
 * reach) is thrown on instead: the queue tries the job again.
 */
export async function failRun(
  runId: RunId,
  phase: RunPhase,
  error: unknown,
  ledger: Pick<Ledger, 'move'>,
): Promise<void> {
  const fault = asAppError(error, 'STORE_003', phase)
  if (fault.retry) throw fault
  const { code: errorCode, message: reason } = fault
  const origin = { kind: 'discovery', id: 'discovery' } as const
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
