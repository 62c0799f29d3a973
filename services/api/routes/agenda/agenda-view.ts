import type { AgendaState, Criterion, ItemCounts, ItemState } from '#domain/agenda.ts'
import { type Composed, judgeCriterion } from '#domain/criteria.ts'
import type { Run } from '#domain/run.ts'
import type { AgendaDecision, AgendaItemView, RunAgenda } from '#schemas/agenda-schema.ts'
import type { AgendaView } from '#store/ledger/conductor-steps.ts'
import type { Composition } from '#store/objects/composition.ts'
import { isoTime } from '../../http/schema-parts.ts'

type Known = { decisions: readonly AgendaDecision[]; composition: Composition | null }

/** `composition`: that with which the run has ended, if it has. */
export function agendaView(
  { runId }: Pick<Run, 'runId'>,
  { state, counts, waiting }: AgendaView,
  known: Known,
): RunAgenda {
  return {
    run_id: runId,
    objective: state.objective,
    approval: approvalView(state.approval),
    items: state.items.map((item) => itemView(item, counts.get(item.item_id), known)),
    decisions: [...known.decisions],
    messages_waiting: waiting,
    answer: state.answer,
  }
}

function approvalView(approval: AgendaState['approval']): RunAgenda['approval'] {
  if (approval === null) return null
  const { plan_hash, wanted_since: since, at = null, by = null } = approval
  return { plan_hash, wanted_since: isoTime(since), approved_at: isoTime(at), approved_by: by }
}

/** The last decision counts that planned the item: a refinement may have planned it anew. */
function itemView(state: ItemState, now: ItemCounts | undefined, { decisions, composition }: Known): AgendaItemView {
  const { reads: _, result, ...item } = state
  const planned = decisions.findLast(({ kind, item_ids: ids }) => plans.has(kind) && ids.includes(item.item_id))
  const composed = composition && { kept: composition.keptOfItems?.[item.item_id] ?? 0, gate: composition.gate }
  const criteria = item.success_criteria.map((criterion) => ({ ...criterion, met: metBy(state, criterion, composed) }))
  return { ...item, success_criteria: criteria, counts: countsView(now ?? result), decided_in: planned?.seq ?? null }
}

function countsView(counts: ItemCounts | undefined): AgendaItemView['counts'] {
  if (counts === undefined) return null
  const { reads: _, ...shown } = counts
  return shown
}

const plans: ReadonlySet<AgendaDecision['kind']> = new Set(['plan', 'follow_up', 'refine'])

/** Is known once the item has ended. */
function metBy({ status, result }: ItemState, criterion: Criterion, composed: Composed | null): boolean | null {
  const verdict = status === 'ended' && result !== undefined ? judgeCriterion(criterion, result, composed) : 'open'
  return verdict === 'open' ? null : verdict === 'met'
}
