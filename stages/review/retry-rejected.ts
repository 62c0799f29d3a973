import { hasCode } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import { isEnded } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { WantedNote } from '#store/ledger/wanted-retries.ts'
import { repeatEvery } from '#platform/clock.ts'
import { type Log, openStoreUser, storeAtFault, type StoreLog } from '#platform/log.ts'
import { startWantedRetries, type StartWantedDeps } from './reopen-runs.ts'

export type RetryRejectedDeps = {
  ledger: StartWantedDeps['ledger'] & Pick<Ledger, 'endWanted' | 'wantedNotes'>
  /** Runs that were begun with another kind of model wait. */
  modelKind?: ModelKind | undefined
  log: StoreLog & Pick<Log, 'warn'>
}

const everyMs = 1_000
const origin = { kind: 'discovery', id: 'discovery' } as const

/**
 * Reopens runs for the retries that people asked for when they rejected changes, as soon as they have ended. Several processes may do this:
 * a run is reopened once. The returned function stops it. What fails is logged and tried again.
 */
export function runRejectedRetries(deps: RetryRejectedDeps): () => Promise<void> {
  const stores = openStoreUser(deps.log)
  const looks: Looks = new Map()
  return repeatEvery(everyMs, async () => {
    try {
      await retryRejected(deps, looks)
      stores.worked()
    } catch (error) {
      if (!stores.failed(error)) deps.log.warn('retries of rejected changes are not started', { error })
    }
  })
}

/** Holds what is known of a noted run since its decisions were read last. */
type Look = {
  /** Is the time of the note; a newer note has the decisions read at once. */
  at: number
  /** When they are read again, or as soon as the run has ended that it waits for. */
  nextAt: number
  waitsForEnd: boolean
  /** Counts how often in a row reading them has failed. */
  failures: number
}
type Looks = Map<RunId, Look>

/** While it is younger, the decision that it was made for may still be under way. */
const noteMs = 600_000
const pauseMs = { least: 1_000, most: 60_000 }

/**
 * One round: looks at all runs whose decisions may ask for a retry. It looks ever more rarely at those that wait for nothing, and at
 * those that fail, which are logged. Only a fault of a store ends it.
 */
export async function retryRejected(deps: RetryRejectedDeps, looks: Looks = new Map()): Promise<void> {
  const notes = await deps.ledger.wantedNotes()
  const noted = new Set(notes.map(({ runId }) => runId))
  for (const runId of looks.keys()) if (!noted.has(runId)) looks.delete(runId)
  for (const note of notes) {
    const last = looks.get(note.runId)
    const isEarly = last?.at === note.at && Date.now() < last.nextAt
    if (isEarly && !(last.waitsForEnd && (await hasEnded(note.runId, deps)))) continue
    looks.set(note.runId, await lookAt(note, last?.failures ?? 0, deps))
  }
}

async function lookAt(note: WantedNote, failures: number, deps: RetryRejectedDeps): Promise<Look> {
  const { at, runId } = note
  const nextAt = (ms: number) => Date.now() + Math.min(pauseMs.most, Math.max(pauseMs.least, ms))
  try {
    const { isWaiting, waitsForEnd } = await retryNoted(note, deps)
    const ageMs = Date.now() - at
    if (!isWaiting && ageMs > noteMs) await deps.ledger.endWanted(note)
    return { at, nextAt: nextAt(ageMs / 4), waitsForEnd, failures: 0 }
  } catch (error) {
    if (storeAtFault(error) !== undefined) throw error
    deps.log.warn('retries of rejected changes are not started', { run_id: runId, error })
    return { at, nextAt: nextAt(pauseMs.least * 2 ** failures), waitsForEnd: false, failures: failures + 1 }
  }
}

/** One that cannot be read counts as ended: whoever looks then finds out why. */
async function hasEnded(runId: RunId, { ledger }: RetryRejectedDeps): Promise<boolean> {
  const run = await ledger.getRun(runId).catch((error: unknown) => {
    if (storeAtFault(error) !== undefined) throw error
    return undefined
  })
  return run === undefined || isEnded(run.status)
}

/** Says whether a retry still waits: for the end of the run, or, where that has ended, for its kind of model. */
async function retryNoted(note: WantedNote, { ledger, modelKind }: RetryRejectedDeps) {
  try {
    const { run, wanted } = await startWantedRetries(note.runId, { ledger, modelKind, origin })
    const isWaiting = wanted.some(({ state }) => state === 'waiting')
    return { isWaiting, waitsForEnd: isWaiting && !isEnded(run.status) }
  } catch (error) {
    if (!hasCode(error, 'RUN_001', 'RUN_005')) throw error
    if (hasCode(error, 'RUN_001')) await ledger.endWanted(note)
    return { isWaiting: true, waitsForEnd: false }
  }
}
