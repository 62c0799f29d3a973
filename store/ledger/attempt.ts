import { z } from 'zod'
import { AgendaItem, ItemId } from '#domain/agenda.ts'
import { CodeNode } from '#domain/code-node.ts'
import type { NewEvent } from '#domain/event.ts'
import type { OperationId, ProjectId, RunId } from '#domain/ids.ts'
import { OperationWork, RepeatedWork } from '#domain/operation.ts'
import { type ApprovalAnswer, ApprovalVerdict } from '#domain/question.ts'
import { runKeys } from './keys.ts'
import { type Doing, storedDoing } from './live-state.ts'
import { NamedFields, newerRun, runScript } from './script.ts'
import type { LedgerStore } from './store.ts'
import { storedEvents } from './stored-events.ts'
import { storedTalk } from './talk.ts'

const claimScript = runScript('claim')
const appendScript = runScript('append', 'events')

export type Attempt = {
  runId: RunId
  projectId: ProjectId
  operationId: OperationId
  dispatch: number
  /** Fences every write of the attempt. */
  token: string
  /** Counts from 1 over the operation's life. */
  attempt: number
  bundle: string
  bundleHash: string
  node: CodeNode
  work: OperationWork
  snapshotId: string
  /** The operations whose changes it starts from, in the order of the plan. */
  startsFrom: readonly OperationId[]
  generation: number
  /** The item of the agenda that it is of. */
  itemId?: ItemId | undefined
  /** What that item is for, in the words of whoever planned it. */
  objective?: string | undefined
  /** The work that it does once more; null for work that is done for the first time. */
  repeats: RepeatedWork | null
  traceparent: string | null
  correlationId: string
  /** Counts how often it was handed back because a store was unreachable. */
  storeFaults: number
  /** Counts how often in a row no model server could answer it, though it may be the reason. */
  modelFaults: number
  /** Counts how often in a row busy servers have turned it away, though its model works. */
  busyFaults: number
  /** There is a budget: each request to a model needs a reservation (`Told.reserve`). It may change with each append. */
  isLimited: boolean
  /** The operation counts as lost after this time without an append. */
  leaseMs: number
  /** `answer` is null when it was handed back between two turns. Null when it starts from the beginning. */
  resumes: { recordHash: string; answer: string | ApprovalAnswer | null } | null
}

/** `gone`: ended, stale or stopped; there is nothing to do. `busy`: another delivery is running it, or was and has been lost. */
export type ClaimAnswer = { kind: 'claimed'; attempt: Attempt } | { kind: 'gone' } | { kind: 'busy' }

export type DispatchedOperation = { runId: RunId; operationId: OperationId; dispatch: number }

const ClaimReply = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('claimed'),
    attempt: z.int(),
    bundle: z.string(),
    bundleHash: z.string(),
    node: z.string().transform((text) => CodeNode.parse(JSON.parse(text))),
    work: OperationWork.default('agent'),
    storeFaults: z.coerce.number().default(0),
    projectId: z.string(),
    snapshotId: z.string().default(''),
    traceparent: z.string().default(''),
    recordHash: z.string().optional(),
    answer: z.string().nullable().default(null),
    verdict: ApprovalVerdict.optional(),
    modelFaults: z.coerce.number().default(0),
    busyFaults: z.coerce.number().default(0),
    limited: z.string().optional(),
    startsFrom: z
      .string()
      .default('')
      .transform((ids) => (ids === '' ? [] : ids.split(' '))),
    generation: z.coerce.number().default(1),
    itemId: ItemId.optional(),
    objective: AgendaItem.shape.objective.optional(),
    repeats: z
      .string()
      .transform((text) => RepeatedWork.parse(JSON.parse(text)))
      .nullable()
      .default(null),
  }),
  z.object({ kind: z.enum(['gone', 'newer', 'busy']) }),
])

/**
 * Takes a dispatched operation. `token` is drawn per delivery; the same one again gives the same answer. A running one is left
 * alone, also when its lease has run out: `sweep` takes it back. An operation of a stopped run is ended.
 */
export async function claim(store: LedgerStore, job: DispatchedOperation, token: string): Promise<ClaimAnswer> {
  const { runId, operationId, dispatch } = job
  const keys = runKeys(store.namespace, runId)
  const answer = await claimScript(
    store.redis,
    [...keys.scripted, keys.operation(operationId), keys.node(operationId)],
    [operationId, dispatch, token, store.leaseMs, store.origin.kind, store.origin.id],
  )
  const reply = NamedFields.pipe(ClaimReply).parse(answer)
  if (reply.kind === 'newer') throw newerRun(runId)
  if (reply.kind !== 'claimed') return { kind: reply.kind }
  const { kind, traceparent, recordHash, answer: text, verdict, limited, ...claimed } = reply
  const approval = verdict && (text === null || text === '' ? { verdict } : { verdict, reason: text })
  return {
    kind,
    attempt: {
      ...claimed,
      runId,
      operationId,
      dispatch,
      token,
      traceparent: traceparent === '' ? null : traceparent,
      correlationId: runId,
      isLimited: limited !== undefined,
      leaseMs: store.leaseMs,
      resumes: recordHash === undefined ? null : { recordHash, answer: approval ?? text },
    },
  }
}

const AppendReply = z.enum(['ok', 'limited', 'full', 'stop', 'lost'])

/**
 * `lost`: the attempt is no longer the operation's; nothing was written and it must stop. `budget`: there is one; `full`: what was to be
 * reserved does not fit beside what others have reserved, and nothing is.
 */
export type AppendAnswer = { kind: 'ok'; stopRequested: boolean; budget?: 'limited' | 'full' } | { kind: 'lost' }

/**
 * What an attempt has to tell. `doing`: what it does from now on; without it, as before. `talk`: what it has said since the last time.
 * `reserve`: the most tokens that its next request may use, once these events are counted; the next `model.responded` settles them.
 */
export type Told = {
  events: readonly NewEvent[]
  doing?: Doing | undefined
  talk?: object | undefined
  reserve?: number | undefined
}

/** Without events it is a heartbeat. `n` is the attempt's own counter: a used one writes nothing. */
export async function append(
  store: LedgerStore,
  attempt: Attempt,
  n: number,
  { events, doing, talk, reserve }: Told,
): Promise<AppendAnswer> {
  const { keys, args } = attemptWrite(store, attempt, n)
  const encoded = await storedEvents(store, attempt, ofAttempt(attempt, events))
  const now = doing === undefined ? '' : storedDoing(doing, store.redactor)
  const said = talk === undefined ? '' : await storedTalk(store, attempt, talk)
  const reply = AppendReply.parse(
    await appendScript(store.redis, keys, [...args, store.leaseMs, now, said, reserve ?? '', ...encoded]),
  )
  if (reply === 'lost') return { kind: 'lost' }
  const budget = reply === 'limited' || reply === 'full' ? { budget: reply } : {}
  return { kind: 'ok', stopRequested: reply === 'stop', ...budget }
}

/** The first keys and arguments of every write of an attempt. `n` is the attempt's counter as in `append`. */
export function attemptWrite({ namespace }: LedgerStore, { runId, operationId, token }: Attempt, n: number) {
  const keys = runKeys(namespace, runId)
  return { keys: [...keys.scripted, keys.operation(operationId)], args: [operationId, token, n] }
}

/** The same events with the attempt's own operation, node and agent, whatever they had. */
export function ofAttempt(attempt: Attempt, events: readonly NewEvent[]): NewEvent[] {
  const { operationId, generation, node, bundle } = attempt
  return events.map((event) => ({ ...event, operationId, generation, nodeId: node.nodeId, agent: bundle }))
}
