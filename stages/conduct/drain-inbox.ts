import {
  type AgendaState,
  type InboxMessage,
  type ItemCounts,
  type ItemId,
  type ItemState,
  maxHeard,
} from '#domain/agenda.ts'
import { isUnderWay, approvalFor, waitsForApproval } from './agenda-rules.ts'
import type { EventOrigin, NewEvent } from '#domain/event.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import type { Run } from '#domain/run.ts'
import type { Step } from '#store/ledger/conductor-steps.ts'
import { getItemReads } from '#store/objects/stored-records.ts'
import { type ObjectStore, undefinedWhenMissing } from '#store/objects/object-store.ts'

/** Says what is known beside the messages. `files`: what items read, where a push is heard. */
type Known = { counts: ReadonlyMap<ItemId, ItemCounts>; files: ReadFiles; now: number }

/**
 * Folds messages, in their order, into what is known. A message that says nothing new, or comes twice, changes nothing. That an item has ended
 * is known by its counts: the message only wakes the conductor, so that one which is lost, or is of an earlier round, does no harm.
 */
export function drainInbox(state: AgendaState, messages: readonly InboxMessage[], known: Known): AgendaState {
  const items = state.items.map((item) => withCounts(item, known.counts.get(item.item_id)))
  return messages.reduce(
    (heard, message) => {
      const { seq: cause = heard.cause } = message
      return { ...hear(heard, message, known), ...(cause !== undefined && { cause }) }
    },
    { ...state, items },
  )
}

function withCounts(item: ItemState, counts: ItemCounts | undefined): ItemState {
  if (counts !== undefined && item.status === 'ended') return { ...item, result: counts }
  if (counts === undefined || !isUnderWay(item)) return item
  if (isOver(counts)) return { ...item, status: counts.fault === null ? 'ended' : 'blocked', result: counts }
  return counts.planned > 0 ? { ...item, status: 'active' } : item
}

/** Since it was dispatched last, all of it was planned and has ended, or it could not be planned. */
function isOver({ open, reads, fault }: ItemCounts): boolean {
  return open === 0 && (reads !== null || fault !== null)
}

function hear(state: AgendaState, message: InboxMessage, { files, now }: Known): AgendaState {
  switch (message.kind) {
    case 'approved':
      return approved(state, message, now)
    case 'pushed':
      return afterPush(state, message, files, now)
    case 'escalation':
      return escalated(state, message)
    case 'reopened': {
      // What decisions before it have brought is not held against the next ones.
      const { progress: _, bootstrap, ...known } = state
      const plan = bootstrap?.kind === 'block' ? null : bootstrap // who saw no way is asked for a plan again
      // What its end has kept from beginning may begin now.
      const items = known.items.map((item): ItemState => {
        return item.status === 'cancelled' ? { ...item, status: 'waiting' } : item
      })
      return remember({ ...known, items, bootstrap: plan, fruitless: 0, answer: null }, message)
    }
    case 'said': {
      const told = remember(state, message)
      // What is approved, and has begun, is planned anew with it; what waits is another plan from now on.
      return waitsForApproval(state) ? { ...told, approval: approvalFor(told, now) } : told
    }
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

/** Has the files that an item reads, where they are known. */
export type ReadFiles = ReadonlyMap<ItemId, ReadonlySet<string>>

/** Finds out what the items read, where a push may have touched it. */
export async function filesOfItems(
  run: Run,
  { counts, inbox }: Step,
  objects: Pick<ObjectStore, 'get'>,
): Promise<ReadFiles> {
  const files = new Map<ItemId, ReadonlySet<string>>()
  if (!inbox.some(({ kind }) => kind === 'pushed')) return files
  for (const [itemId, { reads: hash }] of counts) {
    const list = hash === null ? undefined : await getItemReads(objects, { ...run, hash }).catch(undefinedWhenMissing)
    if (list !== undefined) files.set(itemId, new Set(list.paths))
  }
  return files
}

type Pushed = Extract<InboxMessage, { kind: 'pushed' }>

/** Makes stale what waits for an approval and reads what was pushed. A run that executes is superseded as a whole, not here. */
function afterPush(state: AgendaState, { paths }: Pushed, files: ReadFiles, now: number): AgendaState {
  if (!waitsForApproval(state)) return state
  const items = state.items.map((item): ItemState => {
    return item.status === 'waiting' && isTouched(item, paths, files) ? { ...item, status: 'stale' } : item
  })
  return { ...state, items, approval: approvalFor({ ...state, items }, now) }
}

/** Uses the paths of an item as what it may read, while nobody has counted its operations. */
function isTouched(
  { item_id: id, where: { paths: globs = [] } }: ItemState,
  paths: readonly string[],
  files: ReadFiles,
): boolean {
  const read = files.get(id)
  if (read !== undefined) return paths.some((path) => read.has(path))
  return globs.length === 0 || paths.some(pathGlobs(globs))
}

/** Tells which items the last push that a step has heard has made stale. */
export function staleIn({ state, inbox }: Step, { items }: AgendaState, origin: EventOrigin): NewEvent[] {
  const stale = items.filter(({ status }, at) => status === 'stale' && state.items[at]?.status !== status)
  const push = inbox.findLast((message) => message.kind === 'pushed')
  if (push === undefined || stale.length === 0) return []
  const data = { item_ids: stale.map(({ item_id: id }) => id), paths: push.paths.slice(0, 100), commit: push.commit }
  return [{ event: 'items.stale', phase: 'execution', origin, data }]
}
