import { chainOf } from '#change-sets/run-chain.ts'
import type { RunId } from '#domain/ids.ts'
import type { Decisions } from '#store/ledger/decisions.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'

export type DecisionsLedger = Pick<Ledger, 'getRun' | 'lastDecision' | 'readDecisions'>

/** The ids of a run and of those that it retries, newest first. */
export type Chain = readonly RunId[]

const cachedRuns = 100

/** Reads the runs that a run retries, once: they stay the same. */
export function openChains(ledger: Pick<Ledger, 'getRun'>): (runId: RunId) => Promise<Chain> {
  const cache = openCachedAnswers<Chain>({ max: cachedRuns })
  return (runId) =>
    cache.get(runId, async () => (await chainOf(await ledger.getRun(runId), ledger)).map((run) => run.runId))
}

/**
 * Reads what `digest` makes of the decisions on the change sets of a chain, as they are when it is asked. It costs one
 * small read unless somebody has decided since. Their age does not tell: a retry may start a second after the rejection
 * that asked for it.
 */
export function openCurrentDecisions<T extends object>(
  ledger: DecisionsLedger,
  digest: (decisions: Decisions, chain: Chain) => T,
): (runId: RunId, chain: Chain) => Promise<T> {
  const cache = openCachedAnswers<T>({ max: cachedRuns })
  return async (runId, chain) => {
    const root = chain.at(-1) ?? runId
    const last = await ledger.lastDecision(root)
    return cache.get(`${runId} ${last}`, async () => digest(await ledger.readDecisions(root), chain))
  }
}
