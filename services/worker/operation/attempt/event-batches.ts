import type { NewEvent } from '#domain/event.ts'
import type { AgentEvent } from '../../agent/journal.ts'

export type EventBatch = { n: number; events: NewEvent[] }

/**
 * The events of one attempt on their way to the ledger, in numbered batches: a batch is sent again until it is known to
 * be there.
 */
export type EventBatches = {
  add(event: AgentEvent): void
  /** The batch under way, or a new one of what has been added since. */
  next(): EventBatch
  /** The batch under way has arrived. */
  arrived(): void
  readonly underway: boolean
}

export function openEventBatches(workerId: string): EventBatches {
  const origin = { kind: 'worker', id: workerId } as const
  let pending: { event: AgentEvent; at: number }[] = []
  let batch: EventBatch | undefined
  let last = 0
  return {
    add: (event) => void pending.push({ event, at: performance.now() }),
    next() {
      if (batch !== undefined) return batch
      const now = performance.now()
      const events = pending.map(({ event, at }) => ({ ...event, origin, ageMs: Math.round(now - at) }))
      pending = []
      last += 1
      batch = { n: last, events }
      return batch
    },
    arrived() {
      batch = undefined
    },
    get underway() {
      return batch !== undefined
    },
  }
}
