import type { NewEvent } from '#domain/event.ts'
import type { AgentEvent } from '../agent/journal.ts'

export type EventBatch = { n: number; events: NewEvent[] }

/** The most that one command sends to Redis, where no other command runs during a script. */
const maxEvents = 128
const maxBytes = 256 * 1024

/** Numbers an attempt's events in batches of a bounded size. One is sent again until it has arrived, or is refused for good. */
export type EventBatches = ReturnType<typeof openEventBatches>

export function openEventBatches(workerId: string, attempt: number) {
  const origin = { kind: 'worker', id: workerId } as const
  const whole = (event: AgentEvent, ageMs: number): NewEvent =>
    Object.assign({}, event, { origin, ageMs, data: { attempt, ...event.data } })
  const pending: (SizedEvent & { at: number })[] = []
  let batch: EventBatch | undefined
  let inBatch: typeof pending = []
  let last = 0
  return {
    /** Leaves out an event that cannot be written. */
    add(event: AgentEvent) {
      const one = sized(event)
      if (one !== undefined) pending.push({ ...one, at: performance.now() })
    },
    next(): EventBatch {
      if (batch !== undefined) return batch
      const now = performance.now()
      inBatch = pending.splice(0, fitting(pending))
      const events = inBatch.map(({ event, at }) => whole(event, Math.round(now - at)))
      last += 1
      batch = { n: last, events }
      return batch
    },
    /** Returns the next batch with events that are true only once the command is carried out that it goes with. */
    lastWith(closing: readonly AgentEvent[]): EventBatch {
      const { n, events } = this.next()
      return { n, events: [...events, ...closing.map((event) => whole(event, 0))] }
    },
    arrived() {
      batch = undefined
    },
    /** The batch in flight was refused for good: its events are sent one by one, and one that is refused by itself is dropped. */
    reduce() {
      if (batch === undefined) return
      const { n, events } = batch
      if (events.length > 1) pending.unshift(...inBatch.splice(1))
      batch = { n, events: events.length > 1 ? events.slice(0, 1) : [] }
    },
    get inFlight() {
      return batch !== undefined
    },
    get waiting() {
      return pending.length > 0
    },
  }
}

function fitting(pending: readonly SizedEvent[]): number {
  let [count, bytes] = [0, 0]
  for (const event of pending) {
    bytes += event.bytes
    if (count === maxEvents || (count > 0 && bytes > maxBytes)) break
    count++
  }
  return count
}

type SizedEvent = { event: AgentEvent; bytes: number }

/** Undefined for data that is no JSON, or nested too deep to be written. */
function sized(event: AgentEvent): SizedEvent | undefined {
  try {
    return { event, bytes: Buffer.byteLength(JSON.stringify(event.data)) }
  } catch {
    return undefined
  }
}
