import { z } from 'zod'
import { EventPhase, type NewEvent } from '#domain/event.ts'
import type { Outcome } from '#domain/operation.ts'
import { ofAttempt } from './append.ts'
import type { Attempt } from './claim.ts'
import { encodeEvents } from './event-codec.ts'
import { runKeys } from './keys.ts'
import { resultOf, type ResultDetail } from './result.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('settle')
const Reply = z.enum(['settled', 'already', 'lost'])

/** `already`: this attempt settled before. `lost`: it is no longer the operation's, nothing was written. */
export type SettleAnswer = { kind: z.infer<typeof Reply> }

export type Settlement = {
  outcome: Outcome
  /** What is still to be told; `operation.failed` or `operation.blocked` and `operation.ended` are added after them. */
  events: readonly NewEvent[]
  result?: Partial<ResultDetail>
}

/**
 * Ends the running operation in one step: status, counters, outcome, events, dependents, result. Objects the outcome
 * names are stored before. `n` is the attempt's counter as in `append`.
 */
export async function settle(
  store: LedgerStore,
  attempt: Attempt,
  n: number,
  settlement: Settlement,
): Promise<SettleAnswer> {
  const { outcome } = settlement
  const keys = runKeys(store.namespace, attempt.runId)
  const result = resultOf({ operation: attempt, nodeId: attempt.node.nodeId, outcome }, settlement.result)
  const events = ofAttempt(attempt, [...settlement.events, ...closingEvents(store, attempt, outcome)])
  const answer = await script(
    store.redis,
    [...keys.scripted, keys.operation(attempt.operationId), keys.after(attempt.operationId)],
    [
      attempt.operationId,
      attempt.token,
      n,
      outcome.status,
      JSON.stringify(outcome),
      JSON.stringify(result),
      ...encodeEvents(events),
    ],
  )
  return { kind: Reply.parse(answer) }
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
    path: attempt.node.path,
    qualified_name: attempt.node.qualifiedName,
    status: outcome.status,
    summary: outcome.summary,
    turns: outcome.turns,
    tokens: outcome.promptTokens + outcome.completionTokens,
    change_set_id: outcome.changeSetId,
    change_set_ids: outcome.changeSetIds,
    record_hash: outcome.recordHash,
  }
  const went = outcome.status === 'failed' || outcome.status === 'blocked' ? outcome.status : undefined
  const ended: NewEvent = {
    ...common,
    event: 'operation.ended',
    durationMs: outcome.durationMs,
    data: went === undefined ? data : { ...data, ...error },
  }
  if (went === undefined) return [ended]
  const bad: NewEvent = {
    ...common,
    event: `operation.${went}`,
    status: 'error',
    data: { attempt: attempt.attempt, ...error },
  }
  return [bad, { ...ended, status: 'error' }]
}
