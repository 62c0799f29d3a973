import type { EventOrigin } from '#domain/event.ts'
import { newToken, type RunId } from '#domain/ids.ts'
import { mayGoOn, type ModelKind } from '#domain/model-kind.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { mostOperations, type RejectedLedger, wantedByDecisions, type WantedRetry } from './rejected-work.ts'

export type StartWantedDeps = {
  ledger: RejectedLedger & Pick<Ledger, 'getRun' | 'readDecisions' | 'reopen'>
  /** A run that was begun with another kind of model is reopened by a stack that has that. */
  modelKind?: ModelKind | undefined
  origin: EventOrigin
}

/** A run as it stands now, and what became of the rejections that ask for a retry. */
export type WantedRetries = { run: Run; wanted: WantedRetry[] }

/** So often others may reopen the run while it is looked at. */
const maxTries = 10

/**
 * Reopens an ended run for all that its decisions want to be tried again, 1,000 operations at most; the rest follows when that has ended. May
 * be called by several processes, and again after any of them died: there is one such generation. RUN_001 for an unknown run.
 */
export async function startWantedRetries(runId: RunId, deps: StartWantedDeps): Promise<WantedRetries> {
  const { ledger, modelKind, origin } = deps
  for (let tries = 1; ; tries += 1) {
    const run = await ledger.getRun(runId)
    const wanted = await wantedByDecisions(run, await ledger.readDecisions(runId), ledger)
    const waiting = wanted.flatMap(({ state, decision }) => (state === 'waiting' ? [decision.operationId] : []))
    const isDue = waiting.length > 0 && isEnded(run.status) && mayGoOn(run.request.labels, modelKind)
    if (!isDue || tries === maxTries) return { run, wanted }
    const operations = [...new Set(waiting)].slice(0, mostOperations)
    await ledger.reopen(run, { wanted: { operations, byDecisions: true }, origin, command: newToken() })
  }
}
