import type { NewEvent } from '#domain/event.ts'
import { clippedJson } from '#domain/json.ts'
import type { AgentEvent } from '../agent/journal.ts'
import { shortened } from '../context/bounded-text.ts'

export type EventBatch = { n: number; events: NewEvent[] }

/** The most that one command sends to Redis, where no other command runs during a script. */
const maxEvents = 128
const maxBytes = 256 * 1024

/** Numbers an attempt's events in batches of a bounded size. One is sent again until it has arrived, or is refused for good. */
export type EventBatches = ReturnType<typeof openEventBatches>

export function openEventBatches(workerId: string) {
  const origin = { kind: 'worker', id: workerId } as const
  const pending: (BoundedEvent & { at: number })[] = []
  let batch: EventBatch | undefined
  let last = 0
  return {
    add: (event: AgentEvent) => void pending.push({ ...boundedEvent(event), at: performance.now() }),
    next(): EventBatch {
      if (batch !== undefined) return batch
      const now = performance.now()
      const events = pending
        .splice(0, fitting(pending))
        .map(({ event, at }) => ({ ...event, origin, ageMs: Math.round(now - at) }))
      last += 1
      batch = { n: last, events }
      return batch
    },
    /** Returns the next batch with events that are true only once the command is carried out that it goes with. */
    lastWith(closing: readonly AgentEvent[]): EventBatch {
      const { n, events } = this.next()
      return { n, events: [...events, ...closing.map((event) => ({ ...boundedEvent(event).event, origin, ageMs: 0 }))] }
    },
    arrived() {
      batch = undefined
    },
    /** The batch in flight was refused: first the data of its events is dropped, the next time the events. */
    reduce() {
      if (batch === undefined) return
      const isBare = batch.events.every(({ data }) => data === bare)
      batch = { n: batch.n, events: isBare ? [] : batch.events.map(bareOf) }
    },
    get inFlight() {
      return batch !== undefined
    },
    get waiting() {
      return pending.length > 0
    },
  }
}

const bare = { shortened: true } as const

function bareOf({ event, phase, origin, ageMs = 0 }: NewEvent): NewEvent {
  return { event, phase, origin, ageMs, data: bare }
}

function fitting(pending: readonly BoundedEvent[]): number {
  let [count, bytes] = [0, 0]
  for (const event of pending) {
    bytes += event.bytes
    if (count === maxEvents || (count > 0 && bytes > maxBytes)) break
    count++
  }
  return count
}

type BoundedEvent = { event: AgentEvent; bytes: number }

const maxDataBytes = 16 * 1024
const maxToolName = 200

/** Says how much of the data stays: characters of each value, and how many values. The last one always fits. */
const rooms = [
  { text: 4000, parts: 100 },
  { text: 500, parts: 20 },
  { text: 50, parts: 20 },
]

/** Bounds an event (domain/event.ts), whatever a model wrote in it: a larger one keeps the beginnings of its values and is marked as `shortened`. */
function boundedEvent(event: AgentEvent): BoundedEvent {
  const bytes = bytesOf(event.data)
  const { toolName } = event
  const named = toolName === undefined ? event : { ...event, toolName: toolName.slice(0, maxToolName) }
  if (bytes <= maxDataBytes) return { event: named, bytes }
  for (const { text, parts } of rooms) {
    const kept = Object.entries(event.data).slice(0, parts)
    const short = kept.map(([key, value]) => [shortened(key, text), shortValue(value, text)])
    const data = { ...Object.fromEntries(short), shortened: true }
    const left = bytesOf(data)
    if (left <= maxDataBytes) return { event: { ...named, data }, bytes: left }
  }
  return { event: { ...named, data: { shortened: true } }, bytes: 0 }
}

function shortValue(value: unknown, most: number): unknown {
  if (typeof value === 'string') return shortened(value, most)
  return bytesOf(value) <= most ? value : clippedJson(value, most)
}

/** Returns Infinity when the data is no JSON, or nested too deep to be written. */
function bytesOf(data: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(data))
  } catch {
    return Infinity
  }
}
