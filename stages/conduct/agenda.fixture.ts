import type { AgendaItem, AgendaState, ItemCounts, ItemState } from '#domain/agenda.ts'

export const because = { text: 'because', events: [1], confidence: 0.5 }

export function anItem(id: string, more: Partial<AgendaItem> = {}): AgendaItem {
  return {
    item_id: id,
    capability: 'lint',
    where: {},
    objective: 'clean it',
    success_criteria: [],
    depends_on: [],
    budget: {},
    priority: 5,
    ...more,
  }
}

export function anItemState(id: string, more: Partial<ItemState> = {}): ItemState {
  return { ...anItem(id), status: 'waiting', retries: 0, ...more }
}

const none = { succeeded: 0, unchanged: 0, skipped: 0, failed: 0, blocked: 0, cancelled: 0 }

export type SomeCounts = Partial<Omit<ItemCounts, 'ended'>> & { ended?: Partial<ItemCounts['ended']> }

export function someCounts({ ended, ...more }: SomeCounts = {}): ItemCounts {
  const nothing = { planned: 0, open: 0, change_sets: 0, findings: 0, tokens: 0, left: 0 }
  return { ...nothing, ended: { ...none, ...ended }, faults: {}, reads: null, estimate: null, fault: null, ...more }
}

export function anAgenda(items: ItemState[], more: Partial<AgendaState> = {}): AgendaState {
  const bootstrap = { kind: 'plan' as const, model: 'm', rationale: because }
  return { objective: 'all clean', items, decisions: 0, bootstrap, fruitless: 0, approval: null, answer: null, ...more }
}
