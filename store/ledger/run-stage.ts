import { AppError, asAppError } from '#domain/error.ts'
import type { EventOrigin } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import type { RunPhase } from '#domain/run.ts'
import { repeatEvery } from '#platform/clock.ts'
import type { Ledger } from './ledger.ts'
import type { StopSignals } from './stop-signals.ts'

/** `phases`: a run in another phase is left alone. `signal` is aborted when the stage's process ends, which is no fault of the run. */
type FailedStage = {
  phases: readonly [RunPhase, ...RunPhase[]]
  origin: EventOrigin
  signal: AbortSignal
  generation?: number
}
type StageLedger = Pick<Ledger, 'cancel' | 'move'>

/** `failed`: it failed its run. `stopped`: the run was stopped. `idle`: it had nothing to do, since the run is in another stage. */
export type StageEnd = 'ok' | 'failed' | 'stopped' | 'idle'

/**
 * Ends a run as failed for a fault of its input, bundles or objects, with its code. A fault that may pass is thrown instead, and
 * the job comes again. A run with open operations is only stopped: the dispatcher ends it.
 */
export async function failRun(
  runId: RunId,
  error: unknown,
  stage: FailedStage,
  ledger: StageLedger,
): Promise<'failed'> {
  const { phases, origin, signal, generation } = stage
  const [own] = phases
  const fault = asAppError(error, 'TOOL_004', own)
  if (fault.retry || signal.aborted) throw fault
  const { code: errorCode, message: reason } = fault
  const answer = await ledger.move(runId, {
    from: phases.flatMap((phase) => (['queued', 'running'] as const).map((status) => ({ status, phase }))),
    to: { status: 'failed' },
    command: 'fail',
    ...(generation !== undefined && { generation }),
    set: { errorCode, reason },
    events: [
      { event: 'run.failed', phase: own, status: 'error', errorCode, origin, data: { error_code: errorCode, reason } },
    ],
  })
  if (answer === 'open') await ledger.cancel(runId, { reason, errorCode, origin, phases })
  return 'failed'
}

/** When the process of a stage fell silent this often, the stage itself may be what kills it. */
export const deadlyStalls = 5

/** `stalls`: how often a process or its thread died while it ran the stage; `why`: how the last one did, if that is known; `fail`: what it fails, if not its run. */
type StageTry = FailedStage & { stalls: number; why?: string; fail?(fault: AppError): Promise<'failed'> }

/** Runs the stage, unless five processes or threads have died running it: then the run fails with TOOL_004. */
export async function unlessDeadly<End>(
  runId: RunId,
  stage: StageTry,
  ledger: StageLedger,
  work: () => Promise<End>,
): Promise<End | 'failed'> {
  const { stalls, why, phases } = stage
  if (stalls < deadlyStalls) return work()
  const reason = why === undefined ? '' : `: ${why}`
  const fault = new AppError('TOOL_004', `the process that worked on its ${phases[0]} died ${stalls} times${reason}`)
  return stage.fail === undefined ? failRun(runId, fault, stage, ledger) : stage.fail(fault)
}

export type UntilStoppedDeps = {
  ledger: Pick<Ledger, 'getRun'>
  stops: Pick<StopSignals, 'on'>
  /** The ledger is asked so often as well, since a signal may be lost; 5 s by default. */
  askEveryMs?: number
}

/**
 * Runs a stage with a signal that is also aborted when the run is stopped, also when its operations may finish: what a stage
 * makes would count for nothing. Then the stage's errors are dropped. Returns how it ended, or `stopped`. RUN_001 for an unknown
 * run.
 */
export async function untilStopped<End>(
  runId: RunId,
  stage: (signal: AbortSignal) => Promise<End>,
  { ledger, stops, askEveryMs = 5_000 }: UntilStoppedDeps,
  signal: AbortSignal,
): Promise<End | 'stopped'> {
  const stopped = new AbortController()
  const ask = async () => {
    if ((await ledger.getRun(runId)).stop !== null) stopped.abort()
  }
  const unsubscribe = stops.on(runId, () => void ask().catch(() => undefined)) // asked again later in any case
  const stopAsking = repeatEvery(askEveryMs, ask)
  try {
    await ask()
    return stopped.signal.aborted ? 'stopped' : await stage(AbortSignal.any([signal, stopped.signal]))
  } catch (error) {
    if (!stopped.signal.aborted) throw error
    return 'stopped'
  } finally {
    unsubscribe()
    await stopAsking()
  }
}
