import type { RunId } from '#domain/ids.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'

export type DecisionsLedger = Pick<Ledger, 'lastDecision' | 'readDecisions'>

const cachedRuns = 100

/** Reads what `digest` makes of a run's decisions as they are now, with one small read unless somebody has decided since. */
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
