import type { NewEvent } from '#domain/event.ts'
import type { AgentEvent } from '../../agent/journal.ts'
import { boundedEvent, type BoundedEvent } from './bounded-event.ts'

export type EventBatch = { n: number; events: NewEvent[] }

/** What one command takes to Redis at most: a script of it lets no other command in while it runs. */
const maxEvents = 128
const maxBytes = 256 * 1024

/**
 * The events of one attempt on their way to the ledger, in numbered batches of a bounded size: a batch is sent again
 * until it is known to be there, or that it never can be.
 */
export type EventBatches = {
  add(event: AgentEvent): void
  /** The batch under way, or a new one of what has been added since. */
  next(): EventBatch
  /** The batch under way has arrived. */
  arrived(): void
  /** The batch under way can never arrive as it is: only that its events were is left of it, and after that nothing. */
  reduce(): void
  readonly underway: boolean
  /** Whether events wait behind the batch under way. */
  readonly waiting: boolean
}

export function openEventBatches(workerId: string): EventBatches {
  const origin = { kind: 'worker', id: workerId } as const
  const pending: (BoundedEvent & { at: number })[] = []
  let batch: EventBatch | undefined
  let last = 0
  return {
    add: (event) => void pending.push({ ...boundedEvent(event), at: performance.now() }),
    next() {
      if (batch !== undefined) return batch
      const now = performance.now()
      const events = pending
        .splice(0, fitting(pending))
        .map(({ event, at }) => ({ ...event, origin, ageMs: Math.round(now - at) }))
      last += 1
      batch = { n: last, events }
      return batch
    },
    arrived() {
      batch = undefined
    },
    reduce() {
      if (batch === undefined) return
      const isBare = batch.events.every(({ data }) => data === bare)
      batch = { n: batch.n, events: isBare ? [] : batch.events.map(bareOf) }
    },
    get underway() {
      return batch !== undefined
    },
    get waiting() {
      return pending.length > 0
    },
  }
}

const bare = { shortened: true }

function bareOf({ event, phase, origin, ageMs = 0 }: NewEvent): NewEvent {
  return { event, phase, origin, ageMs, data: bare }
}

/** How many of these go in one batch; one always does. */
function fitting(pending: readonly BoundedEvent[]): number {
  let [count, bytes] = [0, 0]
  for (const one of pending) {
    bytes += one.bytes
    if (count === maxEvents || (count > 0 && bytes > maxBytes)) break
    count++
  }
  return count
}
