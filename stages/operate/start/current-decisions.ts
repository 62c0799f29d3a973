import type { RunId } from '#domain/ids.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'

export type DecisionsLedger = Pick<Ledger, 'lastDecision' | 'readDecisions'>

const cachedRuns = 100

/**
 * Reads what `digest` makes of the decisions on the change sets of a run, as they are when it is asked. It costs one
 * small read unless somebody has decided since. Their age does not tell: a run may be reopened a second after the rejection
 * that asked for it.
 */
export function openCurrentDecisions<T extends object>(
  ledger: DecisionsLedger,
  digest: (decisions: Decisions) => T,
): (runId: RunId) => Promise<T> {
  const cache = openCachedAnswers<T>({ max: cachedRuns })
  return async (runId) => {
    const last = await ledger.lastDecision(runId)
    return cache.get(`${runId} ${last}`, async () => digest(await ledger.readDecisions(runId)))
  }
}
