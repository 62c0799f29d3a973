import { z } from 'zod'
import type { NewEvent } from '#domain/event.ts'
import { ofAttempt } from './append.ts'
import type { Attempt } from './claim.ts'
import { encodeEvents } from './event-codec.ts'
import { runKeys } from './keys.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('release')
const Reply = z.enum(['released', 'already', 'lost'])

/** `already`: this attempt is over. `lost`: it is no longer the operation's. In both cases nothing was written. */
export type ReleaseAnswer = { kind: z.infer<typeof Reply> }

export type Release = {
  /** `drain`: the worker is stopping. `store`: objects or ledger were out of reach. */
  reason: 'drain' | 'store'
  /** How long it rests before it is dispatched again; not at all without. */
  delayMs?: number
  /** What is still to be told; `operation.retried` is added after them. */
  events: readonly NewEvent[]
}

/**
 * Hands a running operation back, to be dispatched again from the start: `operation.retried`, ready, no lease. Jobs of
 * the old dispatch find it gone. One of a stopped run ends. `n` is the attempt's counter as in `append`.
 */
export async function release(
  store: LedgerStore,
  attempt: Attempt,
  n: number,
  { reason, delayMs = 0, events }: Release,
): Promise<ReleaseAnswer> {
  const keys = runKeys(store.namespace, attempt.runId)
  const { kind, id } = store.origin
  const answer = await script(
    store.redis,
    [...keys.scripted, keys.operation(attempt.operationId)],
    [attempt.operationId, attempt.token, n, reason, delayMs, kind, id, ...encodeEvents(ofAttempt(attempt, events))],
  )
  return { kind: Reply.parse(answer) }
}
