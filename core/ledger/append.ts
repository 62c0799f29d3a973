import { z } from 'zod'
import type { NewEvent } from '#domain/event.ts'
import type { Attempt } from './claim.ts'
import { encodeEvents } from './event-codec.ts'
import { runKeys } from './keys.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('append')
const Reply = z.enum(['0', '1', 'lost'])

/** `lost`: the attempt is no longer the operation's; nothing was written and it must stop. */
export type AppendAnswer = { kind: 'ok'; stopRequested: boolean } | { kind: 'lost' }

/**
 * Writes events of the running attempt and renews its lease; without events it is a heartbeat. `n` is the attempt's own
 * counter, shared with `settle` and rising: one that was used before writes nothing. The events get the attempt's
 * operation, node and agent.
 */
export async function append(
  store: LedgerStore,
  attempt: Attempt,
  n: number,
  events: readonly NewEvent[],
): Promise<AppendAnswer> {
  const keys = runKeys(store.namespace, attempt.runId)
  const answer = await script(
    store.redis,
    [...keys.scripted, keys.operation(attempt.operationId)],
    [attempt.operationId, attempt.token, n, store.leaseMs, ...encodeEvents(ofAttempt(attempt, events))],
  )
  const reply = Reply.parse(answer)
  return reply === 'lost' ? { kind: 'lost' } : { kind: 'ok', stopRequested: reply === '1' }
}

/** The same events, named as the attempt's own whatever their emitter said. */
export function ofAttempt(attempt: Attempt, events: readonly NewEvent[]): NewEvent[] {
  const { operationId, node, bundle } = attempt
  return events.map((event) => ({ ...event, operationId, nodeId: node.nodeId, agent: bundle }))
}
