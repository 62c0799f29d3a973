import { z } from 'zod'
import {
  AgendaState,
  type ConductorWait,
  InboxMessage,
  ItemCounts,
  ItemId,
  maxObjectiveCharacters,
} from '#domain/agenda.ts'
import type { ErrorCode } from '#domain/error.ts'
import type { EventOrigin, NewEvent } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import { endedOperationStatuses } from '#domain/operation.ts'
import { isEnded, type Run } from '#domain/run.ts'
import { runKeys } from './keys.ts'
import { getRun } from './read-runs.ts'
import { NamedFields, pairsOf, runCommand } from './script.ts'
import type { LedgerStore } from './store.ts'
import { ownerOf, storedEvents } from './stored-events.ts'

/** What a conductor has, while its claim holds. `reply`: the hash of the record of a reply that was received for this version. */
export type Step = {
  /** The event of the last decision, a model's or a person's. */
  decidedBy: number | undefined
  version: number
  token: string
  state: AgendaState
  inbox: readonly InboxMessage[]
  counts: ReadonlyMap<ItemId, ItemCounts>
  reply: string | null
}

/** `busy`: somebody else has claimed it until then. `over`: the run is stopped, or its conductor decides no more. */
export type ClaimedStep = { kind: 'claimed'; step: Step } | { kind: 'busy'; untilMs: number } | { kind: 'over' }

const ClaimReply = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('claimed'),
    version: z.coerce.number(),
    decidedBy: z.coerce.number().optional(),
    state: z.string().optional(),
    reply: z.string().nullable().default(null),
    inbox: z.string(),
    items: z.string(),
  }),
  z.object({ kind: z.literal('busy'), untilMs: z.coerce.number() }),
  z.object({ kind: z.literal('over') }),
])
const claimed = runCommand('claim-step', NamedFields.pipe(ClaimReply), 'events')
/** To Lua an empty list is an empty table, which it writes as an object. */
const Texts = z.preprocess((list) => (Array.isArray(list) ? list : []), z.array(z.string()))

/**
 * Claims the next step of a run's conductor for so long; the same token again renews the claim. Who claims a step after a claim has run out
 * gets the same messages, and the reply that was noted. RUN_001, RUN_005.
 */
export async function claimStep(
  store: LedgerStore,
  runId: RunId,
  { token, leaseMs }: { token: string; leaseMs: number },
): Promise<ClaimedStep> {
  const claim = await claimed(store, runId, [token, leaseMs], agendaKey(store, runId))
  if (claim.kind !== 'claimed') return claim
  const { version, decidedBy, reply } = claim
  const state = claim.state === undefined ? begun(await getRun(store, runId)) : storedState(claim.state)
  const inbox = Texts.parse(JSON.parse(claim.inbox)).map((text) => InboxMessage.parse(JSON.parse(text)))
  const counts = countsOf(pairsOf(Texts.parse(JSON.parse(claim.items))))
  return { kind: 'claimed', step: { version, decidedBy, token, state, inbox, counts, reply } }
}

const writeReply = runCommand('note-reply', z.enum(['noted', 'lost']), 'events')

/**
 * Keeps the record of a reply before it is acted on, so that it is not asked for again, and where there is a budget its `tokens` reserved until
 * the commit. `lost`: the step is not the token's any more.
 */
export async function noteReply(
  store: LedgerStore,
  runId: RunId,
  { token, version, recordHash, tokens }: { token: string; version: number; recordHash: string; tokens: number },
): Promise<'noted' | 'lost'> {
  return writeReply(store, runId, [token, version, recordHash, tokens], agendaKey(store, runId))
}

/** Leaves out since when: that is told by Redis' clock. */
type WaitOf<Wait> = Wait extends ConductorWait ? Omit<Wait, 'since'> : never

export type StepCommit = {
  token: string
  version: number
  state: AgendaState
  /** Counts the messages of the step's inbox that the state has taken in. */
  consumed: number
  /** Items that become operations, and those whose operations are only counted. They have no open operation. */
  dispatch: readonly ItemId[]
  estimate?: readonly ItemId[]
  /** Says what it waits for, where nothing of the run moves before that has come. */
  waits?: WaitOf<ConductorWait> | undefined
  close?: { kind: 'done' } | { kind: 'blocked'; code: ErrorCode; reason: string } | undefined
  events: readonly NewEvent[]
}

const commit = runCommand('commit-step', z.enum(['committed', 'lost', 'open']))

/**
 * Ends a step: what it has decided, the messages it has heard, the items to plan and its events, at once. `lost`: somebody else has the step,
 * or the run was stopped; nothing was written. RangeError for an item that has open operations.
 */
export async function commitStep(store: LedgerStore, runId: RunId, step: StepCommit): Promise<'committed' | 'lost'> {
  const { token, version, consumed, dispatch, estimate = [], waits, close } = step
  const budgets = new Map(step.state.items.map(({ item_id: id, budget }) => [id, budget]))
  const items = [...dispatch, ...estimate].flatMap((id, at) => {
    const { tokens = '', seconds = '' } = budgets.get(id) ?? {}
    return [id, at < dispatch.length ? '' : '1', tokens, seconds]
  })
  const { code, reason } = close?.kind === 'blocked' ? close : { code: '', reason: '' }
  const args = [
    token,
    version,
    store.redactor.json(JSON.stringify(AgendaState.parse(step.state))),
    consumed,
    waits === undefined ? '' : JSON.stringify(waits),
    close?.kind ?? '',
    code,
    reason,
    dispatch.length + estimate.length,
    ...items,
    ...(await storedEvents(store, ownerOf(store, runId), step.events)),
  ]
  const reply = await commit(store, runId, args, agendaKey(store, runId))
  if (reply === 'open') throw new RangeError(`an item of ${dispatch.join(', ')} of run ${runId} has open operations`)
  return reply
}

const send = runCommand('send-inbox', z.enum(['sent', 'over']))

/**
 * Tells the conductor something, once for each `command`, with its events. What a person says has an event of its own. `over`: the run has
 * ended, is being stopped, or no conductor decides about it any more. RUN_001, RUN_005.
 */
export async function sendToConductor(
  store: LedgerStore,
  runId: RunId,
  message: InboxMessage,
  { command, origin, events = [] }: { command: string; origin: EventOrigin; events?: readonly NewEvent[] },
): Promise<'sent' | 'over'> {
  const heard = InboxMessage.parse(message)
  const told: readonly NewEvent[] =
    heard.kind === 'said'
      ? [{ event: 'objective.extended', phase: 'execution', origin, data: { text: heard.text, by: heard.by } }]
      : []
  const shown = JSON.parse(store.redactor.json(JSON.stringify(heard)))
  return send(store, runId, [
    command,
    JSON.stringify(InboxMessage.parse(shown)),
    ...(await storedEvents(store, ownerOf(store, runId), [...told, ...events])),
  ])
}

export type UnplannedItem = {
  itemId: ItemId
  /** The version of the agenda that has dispatched it. */
  version: number
  reads?: string
} & (
  | { estimate: NonNullable<ItemCounts['estimate']> }
  | { fault: NonNullable<ItemCounts['fault']>; events: readonly NewEvent[] }
)

const writeItem = runCommand('note-item', z.enum(['noted', 'already']))

/** Ends the planning of an item that no operation comes of. `already`: it is not the next one to plan. */
export async function noteItem(store: LedgerStore, runId: RunId, item: UnplannedItem): Promise<'noted' | 'already'> {
  const noted =
    'estimate' in item ? (['estimate', item.estimate, []] as const) : (['fault', item.fault, item.events] as const)
  const [kind, value, events] = noted
  return writeItem(store, runId, [
    item.itemId,
    item.version,
    item.reads ?? '',
    kind,
    JSON.stringify(value),
    ...(await storedEvents(store, ownerOf(store, runId), events)),
  ])
}

/** `waiting`: messages that the conductor has not heard yet. */
/** `decidedIn`: the numbers of the events of its decisions, in order. */
export type AgendaView = {
  state: AgendaState
  counts: ReadonlyMap<ItemId, ItemCounts>
  waiting: number
  decidedIn: readonly number[]
}

/** Undefined for a run without an objective. An item that the end of its run has kept from ending is shown as cancelled, but not where the plan was all that was wanted. RUN_001. */
export async function readAgenda(store: LedgerStore, runId: RunId): Promise<AgendaView | undefined> {
  const run = await getRun(store, runId)
  if (run.request.objective === undefined) return undefined
  const keys = runKeys(store.namespace, runId)
  const [stored, items, waiting, decided] = await Promise.all([
    store.redis.hget(keys.agenda, 'state'),
    store.redis.hgetall(keys.items),
    store.redis.llen(keys.inbox),
    store.redis.hget(keys.run, 'decided_in'),
  ])
  const state = stored === null ? begun(run) : storedState(stored)
  const isOver = isEnded(run.status) && !run.request.dryRun
  const decidedIn = decided?.split(' ').map(Number) ?? []
  return { state: isOver ? withoutOpen(state) : state, counts: countsOf(Object.entries(items)), waiting, decidedIn }
}

function withoutOpen(state: AgendaState): AgendaState {
  const open = new Set(['waiting', 'planning', 'active'])
  return {
    ...state,
    items: state.items.map((item) => (open.has(item.status) ? { ...item, status: 'cancelled' as const } : item)),
  }
}

function begun({ request }: Run): AgendaState {
  const objective = (request.objective ?? '').slice(0, maxObjectiveCharacters)
  return { objective, items: [], decisions: 0, bootstrap: null, fruitless: 0, approval: null, answer: null }
}

function storedState(text: string): AgendaState {
  return AgendaState.parse(JSON.parse(text))
}

function agendaKey({ namespace }: LedgerStore, runId: RunId): string[] {
  return [runKeys(namespace, runId).agenda]
}

/** Until its last slice is planned nobody knows what an item reads, nor whether it has ended. */
function isPartly(stored: ReadonlyMap<string, string>): boolean {
  return stored.has('slices') && stored.get('planned') !== '1'
}

/** Reads what transitions.lua counts of each item. */
function countsOf(fields: readonly (readonly [name: string, value: string])[]): Map<ItemId, ItemCounts> {
  const byItem = Map.groupBy(fields, ([name]) => name.slice(0, name.indexOf(':')))
  return new Map(
    [...byItem].map(([itemId, own]) => {
      const stored = new Map(own.map(([name, value]) => [name.slice(itemId.length + 1), value]))
      const number = (name: string) => Number(stored.get(name) ?? 0)
      const json = (name: string): unknown => JSON.parse(stored.get(name) ?? 'null')
      const counts = ItemCounts.parse({
        planned: number('operations'),
        open: number('open'),
        ended: Object.fromEntries(endedOperationStatuses.map((status) => [status, number(status)])),
        change_sets: number('change_sets') - number('replaced'),
        findings: number('findings'),
        tokens: number('tokens'),
        left: number('left'),
        faults: json('faults') ?? {},
        reads: isPartly(stored) ? null : (stored.get('reads') ?? null),
        estimate: json('estimate'),
        fault: json('fault'),
      })
      return [ItemId.parse(itemId), counts] as const
    }),
  )
}
