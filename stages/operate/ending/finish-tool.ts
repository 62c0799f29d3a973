import type { JournalEntry } from '#domain/external-journal.ts'
import { repeatEvery, untilAborted } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { StopSignals } from '#store/ledger/stop-signals.ts'
import type { SuspendedAttempt } from '#store/objects/attempt-record.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { putUnfinishedAttempt } from '#store/objects/stored-records.ts'
import { ScriptError } from '#tool-scripts/script-call.ts'
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
  answer: Promise<unknown>
  /** The stored attempt, and its hash. */
  unfinished: SuspendedAttempt
  recordHash: string
  stopTool(): void
}

/**
 * Waits for the tool of a suspended attempt, and makes its operation ready again from a record that has the answer. Stops the tool
 * when the operation has gone on or ended without it. When the worker stops, or the tool fails by a fault of ours, the next attempt runs it again.
 */
export async function finishTool(begun: BegunTool, deps: FinishDeps): Promise<void> {
  const { attempt, recordHash, stopTool } = begun
  const { ledger, beside, log } = deps
  const wait = { isLost: false }
  const renew = async () => {
    if (wait.isLost || (await ledger.awaitTool(attempt)) === 'ok') return
    wait.isLost = true
    stopTool()
  }
  const stopRenewing = repeatEvery(Math.max(50, attempt.leaseMs / 3), renew)
  const stopListening = deps.stops.on(attempt.runId, () => void renew().catch(() => undefined))
  beside.closing.addEventListener('abort', stopTool, { once: true })
  try {
    const answered = untilAborted(storeAnswer(begun, deps), beside.closing).catch((error: unknown) => {
      if (!beside.closing.aborted) throw error
      return recordHash
    })
    const resumed = await answered
    if (!wait.isLost) await ledger.awaitTool(attempt, resumed)
  } catch (error) {
    // The wait runs out, and the operation counts as lost: what fails each time ends it.
    const { runId: run_id, operationId: operation_id } = attempt
    if (!wait.isLost) log.warn('a tool that takes long has failed', { run_id, operation_id, error })
  } finally {
    stopListening()
    beside.closing.removeEventListener('abort', stopTool)
    await stopRenewing()
  }
}

async function storeAnswer({ attempt, answer, unfinished }: BegunTool, { objects }: FinishDeps): Promise<string> {
  const { waiting } = unfinished
  const journal = waiting === null ? [] : [...waiting.journal, await entryOf(waiting.asked, answer)]
  const answered = { ...unfinished, waiting: waiting && { ...waiting, journal } }
  return putUnfinishedAttempt(objects, attempt.projectId, answered)
}

async function entryOf(asked: Pick<JournalEntry, 'name' | 'args'>, answer: Promise<unknown>): Promise<JournalEntry> {
  try {
    return { ...asked, answer: await answer }
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error
    return { ...asked, error: { type: error.pythonType, message: error.message } }
  }
}
