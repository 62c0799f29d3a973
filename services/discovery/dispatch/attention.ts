import type { RunId } from '#domain/ids.ts'
import type { Taken } from '#ledger/dispatch.ts'
import type { ActiveRun } from '#ledger/list-runs.ts'

/** What a dispatcher keeps in mind of an active run, from round to round. Losing it costs time, never work. */
export type Attention = {
  /** The run is left alone until then (`performance.now()`). */
  asideUntil: number
  /** The dispatch whose answer is not there yet: the same command gives it again. */
  command: string | undefined
  /** What the ledger has handed out and the queue may not have. */
  unsent: readonly Taken[]
  /** When the run is swept again (`performance.now()`); undefined before the first time. */
  sweepAt: number | undefined
  /** Where in the plan of a stopped run the operations begin that may not have been ended. */
  endedUpTo: number
}

export type Attentions = Map<RunId, Attention>

/** What is kept in mind of the run, begun with the first question about it: the same object each time. */
export function attentionTo(runId: RunId, attentions: Attentions): Attention {
  const known = attentions.get(runId)
  if (known !== undefined) return known
  const fresh = { asideUntil: 0, command: undefined, unsent: [], sweepAt: undefined, endedUpTo: 0 }
  attentions.set(runId, fresh)
  return fresh
}

/** Forgets the runs that are not active any more. */
export function keepOnly(active: readonly ActiveRun[], attentions: Attentions): void {
  const ids = new Set(active.map(({ runId }) => runId))
  for (const runId of attentions.keys()) if (!ids.has(runId)) attentions.delete(runId)
}
