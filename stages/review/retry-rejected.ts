import { hasCode } from '#domain/error.ts'
import type { RunId } from '#domain/ids.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import { isEnded } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { WantedNote } from '#store/ledger/runs-to-retry.ts'
import { repeatEvery } from '#platform/clock.ts'
import { type Log, openStoreUser, storeAtFault, type StoreLog } from '#platform/log.ts'
import { startWantedRetries, type StartWantedDeps, wantsFailed } from './reopen-runs.ts'

export type RetryRejectedDeps = {
  ledger: StartWantedDeps['ledger'] & Pick<Ledger, 'endWanted' | 'wantedNotes'>
  /** Runs that were begun with another kind of model wait. */
  modelKind?: ModelKind | undefined
  log: StoreLog & Pick<Log, 'warn'>
}

const everyMs = 1_000
const failed = 'retries of rejected changes are not started'
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
      if (!stores.failed(error)) deps.log.warn(failed, { error })
    }
  })
}

/** Says when the decisions of an ended run are read again, unless its note, of the time `at`, is made anew. */
type Looks = Map<RunId, { at: number; nextAt: number }>

/** While it is younger, the decision that it was made for may still be under way. */
const noteMs = 600_000
const pauseMs = { least: 1_000, afterFault: 30_000, most: 60_000 }

/**
 * One round: looks at all ended runs whose decisions may ask for a retry. It looks ever more rarely at those that wait for nothing, and rarely at
 * those that fail, which are logged. Only a fault of a store ends it.
 */
export async function retryRejected(deps: RetryRejectedDeps, looks: Looks = new Map()): Promise<void> {
  const notes = await deps.ledger.wantedNotes()
  const noted = new Set(notes.map(({ runId }) => runId))
  for (const runId of looks.keys()) if (!noted.has(runId)) looks.delete(runId)
  for (const note of notes) {
    const last = looks.get(note.runId)
    if (last?.at === note.at && Date.now() < last.nextAt) continue
    const waitMs = await lookAt(note, deps)
    looks.set(note.runId, { at: note.at, nextAt: Date.now() + waitMs })
  }
}

/** Returns how many ms later the run is looked at again. */
async function lookAt(note: WantedNote, { ledger, modelKind, log }: RetryRejectedDeps): Promise<number> {
  const { at, runId } = note
  try {
    if (!isEnded((await ledger.getRun(runId)).status)) return 0
    const { run, wanted } = await startWantedRetries(runId, { ledger, modelKind, origin })
    const ageMs = Date.now() - at
    const isWaiting = wantsFailed(run) || wanted.some(({ state }) => state === 'waiting')
    if (ageMs > noteMs && !isWaiting) await ledger.endWanted(note)
    return isEnded(run.status) ? Math.min(pauseMs.most, Math.max(pauseMs.least, ageMs / 4)) : 0
  } catch (error) {
    if (storeAtFault(error) !== undefined) throw error
    if (hasCode(error, 'RUN_001')) await ledger.endWanted(note)
    else if (!hasCode(error, 'RUN_005')) log.warn(failed, { run_id: runId, error })
    return pauseMs.afterFault
  }
}
