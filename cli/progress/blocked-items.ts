import type { AgendaItemView, RunAgenda } from '#schemas/agenda-schema.ts'

export type BlockedItem = { item_id: string; error_code: string; reason: string; replaced_by: string | null }

/** Returns the items of a plan that could not be planned, each with the one that took its place: planned later, for the same agent, and ended. */
export function blockedItems(agenda: Pick<RunAgenda, 'items'> | undefined): BlockedItem[] {
  const items = agenda?.items ?? []
  return items.flatMap((item) => {
    const { item_id, status, counts } = item
    if (status !== 'blocked') return []
    const { error_code, reason } = counts?.fault ?? { error_code: '', reason: 'nothing is known of why' }
    const other = items.find((later) => isInPlaceOf(later, item))
    return [{ item_id, error_code, reason, replaced_by: other?.item_id ?? null }]
  })
}

function isInPlaceOf(later: AgendaItemView, { capability, decided_in: decidedIn }: AgendaItemView): boolean {
  const isLater = (later.decided_in ?? 0) > (decidedIn ?? 0)
  return isLater && later.capability === capability && later.status === 'ended'
}
