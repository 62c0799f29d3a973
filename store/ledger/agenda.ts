import type { AgendaState, InboxMessage, ItemCounts, ItemId } from '#domain/agenda.ts'
import type { ErrorCode } from '#domain/error.ts'
import type { EventOrigin, NewEvent } from '#domain/event.ts'
import type { RunId } from '#domain/ids.ts'
import type { LedgerStore } from './store.ts'

/** What a conductor has, while its claim holds. `reply`: the hash of the record of a reply that was received for this version. */
export type Step = {
  version: number
  token: string
  state: AgendaState
  inbox: readonly InboxMessage[]
  counts: ReadonlyMap<ItemId, ItemCounts>
  reply: string | null
}

export type ClaimedStep = { kind: 'claimed'; step: Step } | { kind: 'busy'; untilMs: number } | { kind: 'over' }

export type StepCommit = {
  token: string
  version: number
  state: AgendaState
  /** Counts the messages of the step's inbox that the state has taken in. */
  consumed: number
  /** Items that become operations, and those whose operations are only counted. */
  dispatch: readonly ItemId[]
  estimate?: readonly ItemId[]
  close?: { kind: 'done' } | { kind: 'blocked'; code: ErrorCode; reason: string }
  events: readonly NewEvent[]
}

export type AgendaView = { state: AgendaState; counts: ReadonlyMap<ItemId, ItemCounts>; waiting: number }

export declare function claimStep(
  store: LedgerStore,
  runId: RunId,
  claim: { token: string; leaseMs: number },
): Promise<ClaimedStep>

export declare function noteReply(
  store: LedgerStore,
  runId: RunId,
  reply: { token: string; version: number; recordHash: string },
): Promise<'noted' | 'lost'>

export declare function commitStep(store: LedgerStore, runId: RunId, step: StepCommit): Promise<'committed' | 'lost'>

export declare function sendToConductor(
  store: LedgerStore,
  runId: RunId,
  message: InboxMessage,
  sent: { command: string; origin: EventOrigin; events?: readonly NewEvent[] },
): Promise<'sent' | 'over'>

export declare function readAgenda(store: LedgerStore, runId: RunId): Promise<AgendaView | undefined>
