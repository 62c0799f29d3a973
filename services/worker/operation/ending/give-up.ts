import { asAppError, type AppError } from '#domain/error.ts'
import type { Outcome } from '#domain/operation.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { putAttemptRecord } from '#objects/stored-records.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import type { Log } from '#platform/log.ts'
import type { AttemptJournal } from '../attempt/attempt-journal.ts'
import { attemptSoFar } from '../attempt/attempt-so-far.ts'
import { costSoFar, type RunningAttempt } from '../attempt/running-attempt.ts'
import { isStoreFault } from '../store-fault.ts'

/**
 * Objects out of reach are no agent's fault: an operation is handed back so often, to rest each time for twice as long,
 * up to a minute. With a first rest of a second an outage of seven minutes costs nothing.
 */
const storeFaultsForgiven = 12
const longestRestMs = 60_000
const noCost = { turns: 0, promptTokens: 0, completionTokens: 0, durationMs: 0 }

export type GivenUp = {
  attempt: Attempt
  journal: AttemptJournal
  /** Aborted when the worker stops. */
  signal: AbortSignal
  /** Undefined when it failed before it was set up. */
  running: RunningAttempt | undefined
}

export type GiveUpDeps = {
  ledger: Pick<Ledger, 'release' | 'settle'>
  objects: ObjectStore
  versions: Readonly<Record<string, string>>
  log: Pick<Log, 'warn'>
  /** How long an operation rests after its first attempt was handed back for a store that is away, in ms. */
  storeRestMs: number
}

/**
 * Ends an attempt that came to no ending of its own: handed back when its worker stops or a store is away, dropped when
 * the operation is another worker's by now, failed under the fault's own code else, with what it did in its record.
 */
export async function giveUp(given: GivenUp, error: unknown, deps: GiveUpDeps): Promise<void> {
  const { attempt, journal, signal } = given
  const fault = asAppError(error, 'TOOL_004', 'execution')
  const storeIsAway = isStoreFault(fault) && attempt.storeFaults < storeFaultsForgiven
  const isHandedBack = signal.aborted || storeIsAway
  const outcome = isHandedBack ? undefined : await failedOutcome(given, fault, deps)
  const { n, events } = await journal.close()
  if (journal.stopped === 'lost') return
  const ids = { run_id: attempt.runId, operation_id: attempt.operationId }
  deps.log.warn('attempt given up', { ...ids, attempt: attempt.attempt, error })
  if (outcome !== undefined) {
    await deps.ledger.settle(attempt, n, { outcome, events })
    return
  }
  const delayMs = signal.aborted ? 0 : Math.min(longestRestMs, deps.storeRestMs * 2 ** attempt.storeFaults)
  await deps.ledger.release(attempt, n, { reason: signal.aborted ? 'drain' : 'store', delayMs, events })
}

async function failedOutcome({ running }: GivenUp, fault: AppError, deps: GiveUpDeps): Promise<Outcome> {
  const told = { summary: fault.message.slice(0, 500), errorCode: fault.code, reason: fault.message }
  const cost = running === undefined ? noCost : costSoFar(running)
  const phase = fault.phase ?? 'execution'
  const outcome: Outcome = { status: 'failed', ...told, phase, changedFiles: [], ...cost }
  if (running === undefined || isStoreFault(fault)) return outcome
  const { projectId, runId, operationId } = running.attempt
  try {
    const record = { ...attemptSoFar(running, deps.versions), changeSet: null, outcome }
    return { ...outcome, recordHash: await putAttemptRecord(deps.objects, projectId, record) }
  } catch (error) {
    deps.log.warn('attempt record not stored', { run_id: runId, operation_id: operationId, error })
    return outcome
  }
}
