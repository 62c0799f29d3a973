import { hasCode, undefinedOn } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import { isEnded } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { WantedNote } from '#ledger/wanted-retries.ts'
import { repeatEvery } from '#platform/clock.ts'
import { type Log, openStoreUser, type StoreLog } from '#platform/log.ts'
import { startWantedRetries, type StartWantedDeps } from '#retries/start-wanted-retries.ts'

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
 * retry is made once. The returned function stops it. A failed round is logged and tried again.
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

/** When the decisions of a noted run are read next, and the runs at whose end that is earlier. */
type Looks = Map<RunId, { at: number; nextAt: number; waitsFor: ReadonlySet<RunId> }>

/** While it is younger, the decision that it was made for may still be under way. */
const noteMs = 600_000
const pauseMs = { least: 1_000, most: 60_000 }

/** One round: looks at all runs whose decisions may ask for a retry, at those that wait for nothing ever more rarely. */
export async function retryRejected(deps: RetryRejectedDeps, looks: Looks = new Map()): Promise<void> {
  const notes = await deps.ledger.wantedNotes()
  const noted = new Set(notes.map(({ root }) => root))
  for (const root of looks.keys()) if (!noted.has(root)) looks.delete(root)
  for (const note of notes) {
    const last = looks.get(note.root)
    if (last?.at === note.at && Date.now() < last.nextAt && !(await hasOneEnded(last.waitsFor, deps))) continue
    const waitsFor = await retryNoted(note, deps)
    const ageMs = Date.now() - note.at
    const pause = Math.min(pauseMs.most, Math.max(pauseMs.least, ageMs / 4))
    looks.set(note.root, { at: note.at, nextAt: Date.now() + pause, waitsFor: waitsFor ?? new Set() })
    if (waitsFor?.size === 0 && ageMs > noteMs) await deps.ledger.endWanted(note)
  }
}

async function hasOneEnded(runs: ReadonlySet<RunId>, { ledger }: RetryRejectedDeps): Promise<boolean> {
  for (const runId of runs) {
    const run = await ledger.getRun(runId).catch(undefinedOn('RUN_001', 'RUN_005'))
    if (run === undefined || isEnded(run.status)) return true
  }
  return false
}

/** Answers the runs for whose end a retry still waits; undefined when it is not for this process to say. */
async function retryNoted(note: WantedNote, deps: RetryRejectedDeps): Promise<Set<RunId> | undefined> {
  const { ledger, modelKind } = deps
  try {
    const wanted = await startWantedRetries(note.root, { ledger, modelKind, origin })
    return new Set(wanted.flatMap((one) => (one.state === 'waiting' ? [one.of.runId] : [])))
  } catch (error) {
    if (!hasCode(error, 'RUN_001', 'RUN_005')) throw error
    const root = await ledger.getRun(note.root).catch(undefinedOn('RUN_001', 'RUN_005'))
    // Without its root a chain is deleted. Else one of its runs is of a newer version, or was deleted just now.
    if (hasCode(error, 'RUN_001') && root === undefined) await ledger.endWanted(note)
    return undefined
  }
}
