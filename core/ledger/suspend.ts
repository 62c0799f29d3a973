import { z } from 'zod'
import type { NewEvent } from '#domain/event.ts'
import { OperationCost } from '#domain/operation.ts'
import type { AskedQuestion } from '#domain/question.ts'
import { ofAttempt } from './append.ts'
import type { Attempt } from './claim.ts'
import { encodeEvents } from './event-codec.ts'
import { runKeys } from './keys.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('suspend')
const Reply = z.enum(['suspended', 'already', 'lost'])

/** `already`: this attempt is over. `lost`: it is no longer the operation's. In both cases nothing was written. */
export type SuspendAnswer = { kind: z.infer<typeof Reply> }

export type Suspension = {
  question: AskedQuestion
  /** Without an answer within this time the operation ends as blocked (ASK_003). */
  answerWithinMs: number
  /** The stored object that the attempt after the answer goes on from. */
  recordHash: string
  /** Of all its attempts so far: what its outcome says when nobody answers. */
  spent: OperationCost
  /** What is still to be told; `human_input.requested` and `operation.suspended` are added after them. */
  events: readonly NewEvent[]
}

/**
 * Lets a running operation wait for a person, without lease, slot or process: `waiting` until `resume`, or until its time
 * is over. One of a stopped run ends. `n` is the attempt's counter as in `append`.
 */
export async function suspend(
  store: LedgerStore,
  attempt: Attempt,
  n: number,
  { question, answerWithinMs, recordHash, spent, events }: Suspension,
): Promise<SuspendAnswer> {
  const keys = runKeys(store.namespace, attempt.runId)
  const { kind, id } = store.origin
  const answer = await script(
    store.redis,
    [...keys.scripted, keys.operation(attempt.operationId)],
    [
      attempt.operationId,
      attempt.token,
      n,
      JSON.stringify(storedQuestion(attempt, question)),
      Math.round(answerWithinMs),
      recordHash,
      JSON.stringify(OperationCost.parse(spent)),
      kind,
      id,
      ...encodeEvents(ofAttempt(attempt, events)),
    ],
  )
  return { kind: Reply.parse(answer) }
}

/** Without what the script adds: number and times. Halves of characters would be no JSON to Redis. */
function storedQuestion({ operationId, bundle, node }: Attempt, { text, choices }: AskedQuestion) {
  const { nodeId, path, qualifiedName } = node
  const asked = { text: text.toWellFormed(), choices: choices?.map((choice) => choice.toWellFormed()) ?? null }
  return { operationId, nodeId, bundle, path, qualifiedName, ...asked }
}
