import { asAppError } from '#domain/error.ts'
import type { JournalEntry } from '#domain/external-journal.ts'
import { repeatEvery, untilAborted } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { StopSignals } from '#store/ledger/stop-signals.ts'
import type { SuspendedAttempt, WaitingScript } from '#store/objects/attempt-record.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { putUnfinishedAttempt } from '#store/objects/stored-records.ts'
import { isStoreFault } from '../attempt/attempt-journal.ts'
import type { ToolsBeside } from '../tools/programs/tools-beside.ts'

export type FinishDeps = {
  ledger: Pick<Ledger, 'awaitTool'>
  objects: ObjectStore
  stops: Pick<StopSignals, 'on'>
  beside: Pick<ToolsBeside, 'closing'>
  log: Pick<Log, 'warn'>
}

export type BegunTool = {
  attempt: Attempt
  entry(): Promise<JournalEntry>
  /** The stored attempt, and its hash. */
  unfinished: SuspendedAttempt
  recordHash: string
  /** Is when that was made, in ms since the epoch. */
  since: number
  stopTool(): void
}

/**
 * Waits for the tool of a suspended attempt, and makes its operation ready again from a record that has the answer, or the fault
 * that ends the next attempt. Stops the tool when the operation has gone on or ended without it. When the worker stops, the next attempt runs it again.
 */
export async function finishTool(begun: BegunTool, deps: FinishDeps): Promise<void> {
  const { attempt, recordHash, stopTool } = begun
  const { ledger, beside, log } = deps
  const lost = new AbortController()
  const over = AbortSignal.any([lost.signal, beside.closing])
  over.addEventListener('abort', stopTool, { once: true })
  const renew = async () => {
    if (!lost.signal.aborted && (await ledger.awaitTool(attempt)) === 'lost') lost.abort()
  }
  const stopRenewing = repeatEvery(Math.max(50, attempt.leaseMs / 3), renew)
  const stopListening = deps.stops.on(attempt.runId, () => void renew().catch(() => undefined))
  try {
    const resumed = await untilAborted(storeAnswer(begun, deps, over), beside.closing).catch((error: unknown) => {
      if (!beside.closing.aborted) throw error
      return recordHash
    })
    if (!lost.signal.aborted) await ledger.awaitTool(attempt, resumed)
  } catch (error) {
    // A store is away. The wait runs out, and the operation counts as lost: what fails each time ends it.
    const { runId: run_id, operationId: operation_id } = attempt
    if (!lost.signal.aborted) log.warn('a tool that takes long has failed', { run_id, operation_id, error })
  } finally {
    stopListening()
    await stopRenewing()
  }
}

async function storeAnswer(
  { attempt, entry, unfinished, since }: BegunTool,
  { objects }: FinishDeps,
  over: AbortSignal,
): Promise<string> {
  const { waiting } = unfinished
  const answered = waiting && (await withAnswer(waiting, entry, over))
  const spentMs = unfinished.spentMs + Math.max(0, Date.now() - since)
  return putUnfinishedAttempt(objects, attempt.projectId, { ...unfinished, spentMs, waiting: answered })
}

/** Keeps a fault that another attempt would not mend. */
async function withAnswer(
  waiting: WaitingScript,
  entry: BegunTool['entry'],
  over: AbortSignal,
): Promise<WaitingScript> {
  try {
    return { ...waiting, journal: [...waiting.journal, await entry()] }
  } catch (error) {
    const fault = asAppError(error, 'TOOL_004')
    if (over.aborted || isStoreFault(fault)) throw error
    return { ...waiting, fault: { code: fault.code, message: fault.message } }
  }
}
