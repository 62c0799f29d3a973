import type { AgendaItem, AgendaState, ItemId, ItemState } from '#domain/agenda.ts'
import type { ErrorCode } from '#domain/error.ts'
import { unreachable } from '#domain/error.ts'
import { approvalFor, planHash, readyItems, waitsForApproval } from './agenda-rules.ts'
import { hasBegun, type PlannerDecision } from './decision-faults.ts'

export type Close = { kind: 'done' } | { kind: 'blocked'; code: ErrorCode; reason: string }

/** `model`: who decided. `progress`: what the run has made so far. `approves`: a person approves the plan before it begins. */
export type Decided = { model: string; progress: number; approves: boolean; now: number }

/**
 * Returns the agenda after a decision without faults. `begin`: items that begin whatever has become of those that they depend on. `close`: that
 * was the last decision.
 */
export function applyDecision(
  before: AgendaState,
  decision: PlannerDecision,
  decided: Decided,
): { state: AgendaState; begin?: readonly ItemId[]; close?: Close } {
  const { heard = [], cause: _, ...state } = before
  switch (decision.kind) {
    case 'plan': {
      const items = decision.items.map(asWaiting)
      // What was said meanwhile is still to be taken into the objective.
      const left = unheard(heard.filter(({ kind }) => kind === 'said'))
      const planned = { ...state, ...left, items, bootstrap: bootstrapOf(decision, decided) }
      const approval = decided.approves ? { plan_hash: planHash(planned), wanted_since: decided.now } : null
      return { state: { ...planned, approval } }
    }
    case 'refine': {
      const items = [...state.items.filter(hasBegun), ...decision.items.map(asWaiting)]
      const left = unheard(heard.filter(({ kind }) => kind !== 'said'))
      return changed({ ...state, ...left, objective: decision.objective, items }, decided)
    }
    case 'dispatch': {
      const named = new Set(decision.item_ids)
      const items = state.items.map((item): ItemState => {
        return named.has(item.item_id) ? { ...item, status: 'waiting' } : item
      })
      return { ...counted({ ...state, items }, decided), begin: decision.item_ids }
    }
    case 'retry': {
      const items = state.items.map((item) => again(item, decision.item_id))
      return { ...counted({ ...state, items }, decided), begin: [decision.item_id] }
    }
    case 'follow_up':
      return counted({ ...state, items: [...state.items, ...decision.items.map(asWaiting)] }, decided)
    case 'complete':
      return { state: { ...ended(state), answer: decision.answer }, close: { kind: 'done' } }
    case 'block':
      return {
        state: state.bootstrap === null ? { ...state, bootstrap: bootstrapOf(decision, decided) } : ended(state),
        close: { kind: 'blocked', code: 'POLICY_003', reason: decision.reason },
      }
    default:
      return unreachable(decision)
  }
}

/** Ends an agenda that no model decides about any more: items that have not begun never will. */
export function over(state: AgendaState): AgendaState {
  const items = state.items.map((item): ItemState => {
    return item.status === 'waiting' ? { ...item, status: 'cancelled' } : item
  })
  return { ...state, items }
}

function unheard(heard: NonNullable<AgendaState['heard']>): Pick<AgendaState, 'heard'> {
  return heard.length === 0 ? {} : { heard }
}

function ended(state: AgendaState): AgendaState {
  return { ...over(state), decisions: state.decisions + 1 }
}

/** Marks as begun what is ready, and the items in `also` unless a person must approve the plan. */
export function beginReady(
  state: AgendaState,
  also: readonly ItemId[] = [],
): { state: AgendaState; dispatch: ItemId[] } {
  const ready = new Set([...readyItems(state).map((item) => item.item_id), ...(waitsForApproval(state) ? [] : also)])
  const items = state.items.map((item): ItemState => (ready.has(item.item_id) ? { ...item, status: 'planning' } : item))
  return { state: { ...state, items }, dispatch: [...ready] }
}

/** Counts decisions in a row before which nothing new was made: a change set, a finding. The first one after the plan, or a retry, has none before it. */
export function fruitlessBefore({ fruitless, progress }: AgendaState, made: number): number {
  return progress !== undefined && made <= progress ? fruitless + 1 : 0
}

function counted(state: AgendaState, decided: Decided) {
  const { progress } = decided
  const fruitless = fruitlessBefore(state, progress)
  return changed({ ...state, decisions: state.decisions + 1, fruitless, progress }, decided)
}

function changed(state: AgendaState, { now }: Decided): { state: AgendaState } {
  return { state: { ...state, approval: approvalFor(state, now) } }
}

function bootstrapOf({ kind, rationale }: Extract<PlannerDecision, { kind: 'plan' | 'block' }>, { model }: Decided) {
  return { kind, model, rationale }
}

function asWaiting(item: AgendaItem): ItemState {
  return { ...item, status: 'waiting', retries: 0 }
}

function again({ result, ...item }: ItemState, id: ItemId): ItemState {
  if (item.item_id !== id) return result === undefined ? item : { ...item, result }
  return { ...item, status: 'waiting', retries: item.retries + 1 }
}
