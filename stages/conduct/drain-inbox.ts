import {
  type AgendaState,
  type InboxMessage,
  type ItemCounts,
  type ItemId,
  type ItemState,
  maxHeard,
} from '#domain/agenda.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import { approvalFor, isUnderWay, waitsForApproval } from './agenda-rules.ts'

type Counts = ReadonlyMap<ItemId, ItemCounts>

/**
 * Folds messages, in their order, into what is known. A message that says nothing new, or comes twice, changes nothing. That an item has ended
 * is known by its counts: the message only wakes the conductor, so that one which is lost, or is of an earlier round, does no harm.
 */
export function drainInbox(
  state: AgendaState,
  messages: readonly InboxMessage[],
  counts: Counts,
  now: number,
): AgendaState {
  const items = state.items.map((item) => withCounts(item, counts.get(item.item_id)))
  return messages.reduce(
    (known, message) => {
      const { seq: cause = known.cause } = message
      return { ...hear(known, message, now), ...(cause !== undefined && { cause }) }
    },
    { ...state, items },
  )
}

function withCounts(item: ItemState, counts: ItemCounts | undefined): ItemState {
  const reads = counts?.reads ?? item.reads
  const known = { ...item, ...(reads !== undefined && { reads }) }
  if (counts !== undefined && item.status === 'ended') return { ...known, result: counts }
  if (counts === undefined || !isUnderWay(item)) return known
  if (isOver(counts)) return { ...known, status: counts.fault === null ? 'ended' : 'blocked', result: counts }
  return counts.planned > 0 ? { ...known, status: 'active' } : known
}

/** Since it was dispatched last, all of it was planned and has ended, or it could not be planned. */
function isOver({ open, reads, fault }: ItemCounts): boolean {
  return open === 0 && (reads !== null || fault !== null)
}

function hear(state: AgendaState, message: InboxMessage, now: number): AgendaState {
  switch (message.kind) {
    case 'approved':
      return approved(state, message, now)
    case 'pushed':
      return pushed(state, message.paths, now)
    case 'escalation':
      return escalated(state, message)
    case 'reopened': {
      // What decisions before it have brought is not held against the next ones.
      const { progress: _, bootstrap, ...known } = state
      const plan = bootstrap?.kind === 'block' ? null : bootstrap // who saw no way is asked for a plan again
      return remember({ ...known, bootstrap: plan, fruitless: 0, answer: null }, message)
    }
    case 'said':
    case 'answer':
      return remember(state, message)
    default:
      return state // it only wakes the conductor
  }
}

type Approved = Extract<InboxMessage, { kind: 'approved' }>

/** An approval of another plan than the present one does not count. */
function approved(state: AgendaState, { plan_hash: hash, by }: Approved, now: number): AgendaState {
  const { approval } = state
  if (approval === null || approval.at !== undefined || approval.plan_hash !== hash) return state
  return { ...state, approval: { ...approval, by, at: now } }
}

/** What waits for an approval and looks at what was pushed is stale. A run that executes is superseded as a whole, not here. */
function pushed(state: AgendaState, paths: readonly string[], now: number): AgendaState {
  if (!waitsForApproval(state)) return state
  const items = state.items.map((item): ItemState => {
    return item.status === 'waiting' && isTouched(item, paths) ? { ...item, status: 'stale' } : item
  })
  return { ...state, items, approval: approvalFor({ ...state, items }, now) }
}

function isTouched({ where }: ItemState, paths: readonly string[]): boolean {
  return where.paths === undefined || where.paths.length === 0 || paths.some(pathGlobs(where.paths))
}

const maxEscalated = 100

function escalated(state: AgendaState, message: Extract<InboxMessage, { kind: 'escalation' }>): AgendaState {
  const { dedup_key: key } = message.escalation
  const { escalated: known = [] } = state
  if (known.includes(key)) return state
  return remember({ ...state, escalated: [...known, key].slice(-maxEscalated) }, message)
}

function remember(state: AgendaState, message: InboxMessage): AgendaState {
  return { ...state, heard: [...(state.heard ?? []), message].slice(-maxHeard) }
}
