import { z } from 'zod'
import type { Escalation, InboxMessage } from '#domain/agenda.ts'
import { EventPhase, type NewEvent } from '#domain/event.ts'
import { changeSetIdsOf, OperationCost, type Outcome } from '#domain/operation.ts'
import type { AskedQuestion } from '#domain/question.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { type Attempt, attemptWrite, ofAttempt } from './attempt.ts'
import { runKeys } from './keys.ts'
import { storedDoing } from './live-state.ts'
import { type ResultDetail, resultOf } from './results.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'
import { isLarge, storedEvents } from './stored-events.ts'
import { inlineTalk } from './talk.ts'

const [settleScript, handOverScript] = [runScript('settle'), runScript('hand-over')]
const awaitToolScript = runScript('await-tool')
const SettleReply = z.enum(['settled', 'already', 'lost'])
const HandOverReply = z.enum(['done', 'already', 'lost'])
const AwaitToolReply = z.enum(['ok', 'lost'])

/** `already`: this attempt has ended before. `lost`: it no longer has the operation. Either way nothing was written. */
export type ReleaseAnswer = { kind: 'released' | 'already' | 'lost' }

export type Settlement = {
  outcome: Outcome
  /** Events not yet written; `operation.failed` or `operation.blocked` and `operation.ended` are added after them. */
  events: readonly NewEvent[]
  /** The conductor, where there is one, hears of these; each has its event among those, in this order. */
  escalations?: readonly Escalation[] | undefined
  result?: Partial<ResultDetail>
  /** Maps the id of a change set to those of the outcome that are built on it. */
  builtOn?: ReadonlyMap<string, readonly string[]>
}

export type Release = {
  /**
   * `drain`: the worker is stopping. `store`: objects or ledger were unreachable. `models`: no model server could answer. `budget`: what
   * its request may use does not fit now.
   */
  reason: 'drain' | 'store' | 'models' | 'budget'
  /** Delays the next dispatch of the operation; 0 without it. */
  delayMs?: number
  /** The stored object that the next attempt resumes from, and the cost of all attempts so far; without it, as before. */
  resume?: { recordHash: string; spent: OperationCost } | undefined
  /** Counts how often in a row no model server could answer it, though it may be the reason; without it, the count stays. */
  modelFaults?: number | undefined
  /** Counts how often in a row busy servers have turned it away, though its model works; without it, the count stays. */
  busyFaults?: number | undefined
  /** What it has said since the last time. Without it nothing is kept of what it said: the next attempt goes on from `resume`, or it was nothing. */
  said?: readonly object[] | undefined
  /** Events not yet written; `operation.retried` is added after them. */
  events: readonly NewEvent[]
}

/** It waits for a person, and ends as blocked (ASK_003) when nobody answers within `answerWithinMs`. */
type Asked = { question: AskedQuestion; answerWithinMs: number }
/** It waits for a tool that a call of the turn has begun, and is lost when its worker is silent for as long as a lease. */
type Deferred = { tool: string; turn: number }

export type Suspension = (Asked | Deferred) & {
  /** The stored object that the next attempt resumes from. */
  recordHash: string
  /** The cost of all its attempts so far; its outcome has it when nobody answers. */
  spent: OperationCost
  /** Events not yet written; `human_input.requested`, where it asks a person, and `operation.suspended` are added after them. */
  events: readonly NewEvent[]
}

/** Ends the running operation, with its events, dependents and result, in one step. Its objects must be stored before. */
export async function settle(store: LedgerStore, attempt: Attempt, n: number, settlement: Settlement) {
  const { outcome } = settlement
  const { keys, args } = attemptWrite(store, attempt, n)
  const after = runKeys(store.namespace, attempt.runId).after(attempt.operationId)
  const result = resultOf({ operation: attempt, nodeId: attempt.node.nodeId, outcome }, settlement.result)
  const reported = [...settlement.events, ...closingEvents(store, attempt, outcome)]
  const events = await storedEvents(store, attempt, ofAttempt(attempt, reported))
  const values = [outcome.status, JSON.stringify(outcome), store.redactor.json(JSON.stringify(result))]
  const changeSets = changeSetIdsOf(outcome)
  const messages = (settlement.escalations ?? []).map((escalation) => {
    const message: InboxMessage = { kind: 'escalation', escalation }
    return store.redactor.json(JSON.stringify(message))
  })
  const bases = [...(settlement.builtOn ?? [])].flatMap(([base, sets]) => [base, sets.join(' ')])
  const all = [
    ...args,
    ...values,
    outcome.findings ?? 0,
    changeSets.length,
    ...changeSets,
    bases.length / 2,
    ...bases,
    messages.length,
    ...messages,
    ...events,
  ]
  return { kind: SettleReply.parse(await settleScript(store.redis, [...keys, after], all)) }
}

function closingEvents(store: LedgerStore, attempt: Attempt, outcome: Outcome): NewEvent[] {
  const phase = EventPhase.safeParse(outcome.phase)
  const common = {
    phase: phase.success ? phase.data : 'execution',
    origin: store.origin,
    ...(outcome.errorCode === undefined ? {} : { errorCode: outcome.errorCode }),
  } as const
  const error = { error_code: outcome.errorCode, reason: outcome.reason ?? outcome.summary }
  const data = {
    attempt: attempt.attempt,
    item_id: attempt.itemId,
    path: attempt.node.path,
    qualified_name: attempt.node.qualifiedName,
    status: outcome.status,
    summary: outcome.summary,
    turns: outcome.turns,
    tokens: outcome.promptTokens + outcome.completionTokens,
    change_set_id: outcome.changeSetId,
    change_set_ids: outcome.changeSetIds,
    findings: outcome.findings,
    record_hash: outcome.recordHash,
  }
  const fault = outcome.status === 'failed' || outcome.status === 'blocked' ? outcome.status : undefined
  const ended: NewEvent = {
    ...common,
    event: 'operation.ended',
    durationMs: outcome.durationMs,
    data: fault === undefined ? data : { ...data, ...error },
  }
  if (fault === undefined) return [ended]
  const told = { ...common, status: 'error', data: { attempt: attempt.attempt, ...error } } as const
  const announced: NewEvent =
    fault === 'failed' ? { event: 'operation.failed', ...told } : { event: 'operation.blocked', ...told }
  return [announced, { ...ended, status: 'error' }]
}

/** `operation.retried`: it is dispatched again, from the start or from `resume`, unless the run is stopped. */
export async function release(store: LedgerStore, attempt: Attempt, n: number, how: Release): Promise<ReleaseAnswer> {
  const { reason, delayMs = 0, events, resume, modelFaults, busyFaults, said } = how
  // It is not too large for Redis: soon it is in the object store, which may be away now.
  const [last] = said ?? []
  const talk = last === undefined ? 'keep' : inlineTalk(attempt, store.redactor.json(JSON.stringify(last)))
  const faults = [modelFaults ?? '', busyFaults ?? '']
  const values = ['release', reason, Math.round(delayMs), ...faults, said === undefined ? '' : talk]
  const reply = await handOver(store, attempt, n, { resume, values, events })
  return { kind: reply === 'done' ? 'released' : reply }
}

/** Lets a running operation wait for a person or a tool, without lease, slot or process. An operation of a stopped run ends. */
export async function suspend(store: LedgerStore, attempt: Attempt, n: number, how: Suspension) {
  const { recordHash, spent, events } = how
  const values = 'tool' in how ? deferring(store, how) : await asking(store, attempt, how)
  const reply = await handOver(store, attempt, n, { resume: { recordHash, spent }, values, events })
  return { kind: reply === 'done' ? ('suspended' as const) : reply }
}

function deferring({ redactor, leaseMs }: LedgerStore, { tool, turn }: Deferred) {
  const doing = storedDoing({ kind: 'deferred', what: tool, turn, afterTool: false, sinceMs: Date.now() }, redactor)
  return ['defer', tool, doing, leaseMs, '', '']
}

async function asking(store: LedgerStore, attempt: Attempt, { question, answerWithinMs }: Asked) {
  const { archive, redactor } = store
  const stored = storedQuestion(attempt, withoutSecrets(question, redactor))
  const { text, choices, call } = stored
  const shown = redactor.json(JSON.stringify({ question: text, choices, call }))
  const payload = call && isLarge(shown, archive) ? await archive?.putPayload(attempt, shown) : undefined
  const apart = payload === undefined ? {} : { call: { ...call, arguments: '' }, payload }
  const questionTexts = [JSON.stringify({ ...stored, ...apart }), payload === undefined ? shown : '{}']
  return ['suspend', ...questionTexts, Math.round(answerWithinMs), payload ?? '', '']
}

/**
 * Says that the tool for which the attempt was suspended still runs, or with a record that the operation can go on from there: from that of
 * the suspension its next attempt runs the tool once more. `lost`: it waits for this one no longer.
 */
export async function awaitTool(store: LedgerStore, attempt: Attempt, recordHash = ''): Promise<'ok' | 'lost'> {
  const { keys, args } = attemptWrite(store, attempt, store.leaseMs)
  const { kind, id } = store.origin
  return AwaitToolReply.parse(await awaitToolScript(store.redis, keys, [...args, kind, id, recordHash]))
}

type HandOver = Pick<Release, 'resume' | 'events'> & { values: readonly (string | number)[] }

async function handOver(store: LedgerStore, attempt: Attempt, n: number, { resume, values, events }: HandOver) {
  const { keys, args } = attemptWrite(store, attempt, n)
  const spent = resume === undefined ? '' : JSON.stringify(OperationCost.parse(resume.spent))
  const common = [...args, store.origin.kind, store.origin.id, resume?.recordHash ?? '', spent]
  const encoded = await storedEvents(store, attempt, ofAttempt(attempt, events))
  return HandOverReply.parse(await handOverScript(store.redis, keys, [...common, ...values, ...encoded]))
}

/** The question without its number and times, which the script adds. To Redis half a surrogate pair is invalid JSON. */
/** Leaves the choices as they are: the answer is one of them. */
function withoutSecrets({ text, choices, call }: AskedQuestion, redactor: Redactor): AskedQuestion {
  const asked = { text: redactor.text(text), choices }
  return call === undefined ? asked : { ...asked, call: { ...call, arguments: redactor.json(call.arguments) } }
}

function storedQuestion({ operationId, bundle, node }: Attempt, { text, choices, call }: AskedQuestion) {
  const { nodeId, path, qualifiedName } = node
  const question = { text: text.toWellFormed(), choices: choices?.map((choice) => choice.toWellFormed()) ?? null }
  return { operationId, nodeId, bundle, path, qualifiedName, ...question, call }
}
