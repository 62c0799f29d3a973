import { asAppError, type AppError } from '#domain/error.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { Log } from '#platform/log.ts'
import type { AttemptJournal } from './attempt-journal.ts'

/**
 * Objects out of reach are no agent's fault: an operation is handed back so often, to rest each time for twice as long,
 * up to a minute. With a first rest of a second an outage of seven minutes costs nothing.
 */
const storeFaultsForgiven = 12
const longestRestMs = 60_000

export type GivenUp = {
  attempt: Attempt
  journal: AttemptJournal
  /** Aborted when the worker stops. */
  signal: AbortSignal
}

export type GiveUpDeps = {
  ledger: Pick<Ledger, 'release' | 'settle'>
  log: Pick<Log, 'warn'>
  /** How long an operation rests after its first attempt was handed back for a store that is away, in ms. */
  storeRestMs: number
}

/**
 * Ends an attempt that came to no ending of its own: handed back when its worker stops or a store is away, dropped when
 * the operation is another worker's by now, failed under the fault's own code else.
 */
export async function giveUp({ attempt, journal, signal }: GivenUp, error: unknown, deps: GiveUpDeps): Promise<void> {
  const fault = asAppError(error, 'TOOL_004', 'execution')
  const { n, events } = await journal.close()
  if (journal.stopped === 'lost') return
  const ids = { run_id: attempt.runId, operation_id: attempt.operationId }
  deps.log.warn('attempt given up', { ...ids, attempt: attempt.attempt, error })
  const storeIsAway = isStoreFault(fault) && attempt.storeFaults < storeFaultsForgiven
  if (signal.aborted || storeIsAway) {
    const delayMs = signal.aborted ? 0 : Math.min(longestRestMs, deps.storeRestMs * 2 ** attempt.storeFaults)
    await deps.ledger.release(attempt, n, { reason: signal.aborted ? 'drain' : 'store', delayMs, events })
    return
  }
  const cost = { turns: 0, promptTokens: 0, completionTokens: 0, durationMs: 0, changedFiles: [] }
  const told = { summary: fault.message.slice(0, 500), errorCode: fault.code, reason: fault.message }
  const outcome = { status: 'failed', ...told, phase: fault.phase ?? 'execution', ...cost } as const
  await deps.ledger.settle(attempt, n, { outcome, events })
}

/** Whether trying again later may do: a store out of reach, not an object that is wrong. */
export function isStoreFault(fault: AppError): boolean {
  return fault.code === 'STORE_001' || fault.code === 'STORE_002'
}
