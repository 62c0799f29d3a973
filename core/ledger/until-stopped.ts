import type { RunId } from '#domain/ids.ts'
import { repeatEvery } from '#platform/clock.ts'
import type { Ledger } from './ledger.ts'
import type { StopSignals } from './stop-signals.ts'

export type UntilStoppedDeps = {
  ledger: Pick<Ledger, 'getRun'>
  stops: Pick<StopSignals, 'on'>
  /** How often the ledger is asked all the same, since a signal may be lost; 5 s when it is not given. */
  askEveryMs?: number
}

/**
 * Runs a stage of a run with a signal that is also aborted when the run is told to stop and the ledger confirms it. A
 * stage that fails after that has ended well: who ends the stopped run is the dispatcher. A run that is stopped already
 * is left alone. RUN_001 for an unknown run.
 */
export async function untilStopped(
  runId: RunId,
  stage: (signal: AbortSignal) => Promise<void>,
  { ledger, stops, askEveryMs = 5_000 }: UntilStoppedDeps,
  signal: AbortSignal,
): Promise<void> {
  const stopped = new AbortController()
  const ask = async () => {
    if ((await ledger.getRun(runId)).stop !== null) stopped.abort()
  }
  const unhear = stops.on(runId, () => void ask().catch(() => undefined)) // a later question finds the same
  const stopAsking = repeatEvery(askEveryMs, ask)
  try {
    await ask()
    if (!stopped.signal.aborted) await stage(AbortSignal.any([signal, stopped.signal]))
  } catch (error) {
    if (!stopped.signal.aborted) throw error
  } finally {
    unhear()
    await stopAsking()
  }
}
