import { hasCode, undefinedOn } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import { isEnded } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { WantedNote } from '#store/ledger/wanted-retries.ts'
import { repeatEvery } from '#platform/clock.ts'
import { type Log, openStoreUser, storeAtFault, type StoreLog } from '#platform/log.ts'
import { startWantedRetries, type StartWantedDeps } from './start-wanted-retries.ts'

export type RetryRejectedDeps = {
  ledger: StartWantedDeps['ledger'] & Pick<Ledger, 'endWanted' | 'wantedNotes'>
  /** Runs that were begun with another kind of model wait. */
  modelKind?: ModelKind | undefined
  log: StoreLog & Pick<Log, 'warn'>
}

const everyMs = 1_000
const origin = { kind: 'discovery', id: 'discovery' } as const

/**
 * Starts the retries that people asked for when they rejected changes, as soon as the runs have ended. Several processes may do this: a
 * retry is made once. The returned function stops it. What fails is logged and tried again.
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
  /** When they are read again, or as soon as one of the runs `waitsFor` has ended. */
  nextAt: number
  waitsFor: ReadonlySet<RunId>
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
  const noted = new Set(notes.map(({ root }) => root))
  for (const root of looks.keys()) if (!noted.has(root)) looks.delete(root)
  for (const note of notes) {
    const last = looks.get(note.root)
    if (last?.at === note.at && Date.now() < last.nextAt && !(await hasOneEnded(last.waitsFor, deps))) continue
    looks.set(note.root, await lookAt(note, last?.failures ?? 0, deps))
  }
}

async function lookAt(note: WantedNote, failures: number, deps: RetryRejectedDeps): Promise<Look> {
  const { at, root } = note
  const nextAt = (ms: number) => Date.now() + Math.min(pauseMs.most, Math.max(pauseMs.least, ms))
  try {
    const wanted = await retryNoted(note, deps)
    const ageMs = Date.now() - at
    if (wanted?.isOver === true && ageMs > noteMs) await deps.ledger.endWanted(note)
    return { at, nextAt: nextAt(ageMs / 4), waitsFor: wanted?.waitsFor ?? new Set(), failures: 0 }
  } catch (error) {
    if (storeAtFault(error) !== undefined) throw error
    deps.log.warn('retries of rejected changes are not started', { run_id: root, error })
    return { at, nextAt: nextAt(pauseMs.least * 2 ** failures), waitsFor: new Set(), failures: failures + 1 }
  }
}

/** One that cannot be read counts as ended: whoever looks then finds out why. */
async function hasOneEnded(runs: ReadonlySet<RunId>, { ledger }: RetryRejectedDeps): Promise<boolean> {
  for (const runId of runs) {
    const run = await ledger.getRun(runId).catch((error: unknown) => {
      if (storeAtFault(error) !== undefined) throw error
      return undefined
    })
    if (run === undefined || isEnded(run.status)) return true
  }
  return false
}

/**
 * Answers the runs for whose end a retry still waits, and whether none waits for anything: a run that has ended may still wait for its kind of
 * model. Undefined when it is not for this process to say.
 */
async function retryNoted(
  note: WantedNote,
  deps: RetryRejectedDeps,
): Promise<{ waitsFor: Set<RunId>; isOver: boolean } | undefined> {
  const { ledger, modelKind } = deps
  try {
    const wanted = await startWantedRetries(note.root, { ledger, modelKind, origin })
    const waiting = wanted.flatMap((one) => (one.state === 'waiting' ? [one.of] : []))
    const goingOn = waiting.filter(({ status }) => !isEnded(status))
    return { waitsFor: new Set(goingOn.map(({ runId }) => runId)), isOver: waiting.length === 0 }
  } catch (error) {
    if (!hasCode(error, 'RUN_001', 'RUN_005')) throw error
    const root = await ledger.getRun(note.root).catch(undefinedOn('RUN_001', 'RUN_005'))
    // A chain whose root is gone is deleted as a whole. If the root is there, one of its runs is of a newer version, or was deleted just now.
    if (hasCode(error, 'RUN_001') && root === undefined) await ledger.endWanted(note)
    return undefined
  }
}
