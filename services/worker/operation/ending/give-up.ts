import { asAppError, type AppError } from '#domain/error.ts'
import type { Outcome } from '#domain/operation.ts'
import type { Attempt } from '#ledger/attempt.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { putAttemptRecord } from '#objects/stored-records.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import type { Log } from '#platform/log.ts'
import { type AttemptJournal, isStoreFault } from '../attempt/attempt-journal.ts'
import { attemptSoFar, costSoFar, type RunningAttempt } from '../attempt/running-attempt.ts'

/**
 * An unreachable store is no fault of the agent: an operation is handed back this many times, with a back-off that doubles
 * up to a minute. With a first back-off of a second, an outage of seven minutes costs nothing.
 */
const maxStoreFaults = 12
const maxBackOffMs = 60_000
const noCost = { turns: 0, promptTokens: 0, completionTokens: 0, durationMs: 0 }

export type GivenUp = {
  attempt: Attempt
  journal: AttemptJournal
  /** Aborted when the worker stops. */
  signal: AbortSignal
  /** Undefined when it failed before it was prepared. */
  running: RunningAttempt | undefined
}

export type GiveUpDeps = {
  ledger: Pick<Ledger, 'release' | 'settle'>
  objects: ObjectStore
  versions: Readonly<Record<string, string>>
  log: Pick<Log, 'debug' | 'warn'>
  /** The back-off after the first attempt that was handed back because a store was unreachable. */
  storeBackOffMs: number
}

/**
 * Ends an attempt that threw. It is handed back when its worker stops or a store is unreachable, and dropped when another
 * worker has the operation by now. Otherwise it fails with the error's code, and its record says what it did.
 */
export async function giveUp(given: GivenUp, error: unknown, deps: GiveUpDeps): Promise<void> {
  const { attempt, journal, signal } = given
  const fault = asAppError(error, 'TOOL_004', 'execution')
  const isStoreUnreachable = isStoreFault(fault) && attempt.storeFaults < maxStoreFaults
  const isHandedBack = signal.aborted || isStoreUnreachable
  const outcome = isHandedBack ? undefined : await failedOutcome(given, fault, deps)
  const { n, events } = await journal.close()
  if (journal.stopped === 'lost') return
  const ids = { run_id: attempt.runId, operation_id: attempt.operationId }
  // An outage of a store is logged once, not for each attempt that it hands back.
  const note = isHandedBack && isStoreFault(fault) ? deps.log.debug : deps.log.warn
  note('attempt given up', { ...ids, attempt: attempt.attempt, error })
  if (outcome !== undefined) return void (await deps.ledger.settle(attempt, n, { outcome, events }))
  const delayMs = signal.aborted ? 0 : Math.min(maxBackOffMs, deps.storeBackOffMs * 2 ** attempt.storeFaults)
  await deps.ledger.release(attempt, n, { reason: signal.aborted ? 'drain' : 'store', delayMs, events })
}

async function failedOutcome({ running }: GivenUp, fault: AppError, deps: GiveUpDeps): Promise<Outcome> {
  const reason = { summary: fault.message.slice(0, 500), errorCode: fault.code, reason: fault.message }
  const cost = running === undefined ? noCost : costSoFar(running)
  const phase = fault.phase ?? 'execution'
  const outcome: Outcome = { status: 'failed', ...reason, phase, changedFiles: [], ...cost }
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
