import type { AgendaItem, AgendaState, ItemCounts, ItemState } from '#domain/agenda.ts'
import { judgeCriterion } from '#domain/criteria.ts'
import { sha256 } from '#domain/ids.ts'
import { sortedKeys } from '#domain/json.ts'

/** `open`: the item goes on, or only a model or the run's gate can tell. */
export type Verdict = 'met' | 'unmet' | 'open'

/** Judges by code what an item has come to. One of whose operations none ended well, though some failed, has not done its work. */
export function verdictOn({ status, result, success_criteria: criteria }: ItemState): Verdict {
  if (status === 'blocked' || status === 'cancelled') return 'unmet'
  if (status !== 'ended' || result === undefined) return 'open'
  const verdicts = criteria.map((criterion) => judgeCriterion(criterion, result))
  if (hasFailed(result) || verdicts.includes('unmet')) return 'unmet'
  return verdicts.includes('open') ? 'open' : 'met'
}

function hasFailed({ ended }: ItemCounts): boolean {
  const { succeeded, unchanged, failed, blocked } = ended
  return succeeded + unchanged === 0 && failed + blocked > 0
}

export function isUnderWay({ status }: Pick<ItemState, 'status'>): boolean {
  return status === 'planning' || status === 'active'
}

/** Is true while operations of the agenda are planned or run: until they have ended nothing is decided. */
export function isActive({ items }: Pick<AgendaState, 'items'>): boolean {
  return items.some(isUnderWay)
}

/** Is true while a person must approve the plan before anything of it begins. */
export function waitsForApproval({ approval }: Pick<AgendaState, 'approval'>): boolean {
  return approval !== null && approval.at === undefined
}

/** Returns the items that may begin, the most urgent first: all that they depend on has ended, and not without success. */
export function readyItems(state: Pick<AgendaState, 'items' | 'approval'>): ItemState[] {
  if (waitsForApproval(state)) return []
  const done = new Set(state.items.filter(isDone).map((item) => item.item_id))
  const ready = state.items.filter(({ status, depends_on: needed }) => {
    return status === 'waiting' && needed.every((id) => done.has(id))
  })
  return ready.toSorted((one, other) => one.priority - other.priority)
}

function isDone(item: ItemState): boolean {
  return item.status === 'ended' && verdictOn(item) !== 'unmet'
}

type Plan = Pick<AgendaState, 'objective' | 'items' | 'heard'>

/**
 * Returns the hash of all that the agenda may do and of what it is for, with what somebody has added and no plan has taken in yet: an approval binds to it. What a push has
 * made stale is not part of it.
 */
export function planHash({ objective, items, heard = [] }: Plan): string {
  const planned = items.filter(({ status }) => status !== 'stale' && status !== 'cancelled').map(planOf)
  const ordered = planned.toSorted((one, other) => (one.item_id < other.item_id ? -1 : 1))
  const said = heard.flatMap((message) => (message.kind === 'said' ? message.text : []))
  return sha256(JSON.stringify({ objective, said, items: ordered }, sortedKeys))
}

function planOf({ status: _status, retries: _retries, result: _result, ...item }: ItemState): AgendaItem {
  return item
}

/** Asks for an approval anew where the plan is no longer the one that was approved. */
export function approvalFor(state: AgendaState, now: number): AgendaState['approval'] {
  const { approval } = state
  if (approval === null) return null
  const hash = planHash(state)
  return hash === approval.plan_hash ? approval : { plan_hash: hash, wanted_since: now }
}
