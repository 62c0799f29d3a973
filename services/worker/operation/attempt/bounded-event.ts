import { clippedJson } from '#domain/clipped-json.ts'
import { isRecord } from '#domain/json.ts'
import type { AgentEvent } from '../../agent/journal.ts'

/** An event that is certain to be JSON of so many bytes. */
export type BoundedEvent = { event: AgentEvent; bytes: number }

const maxDataBytes = 16 * 1024
const maxToolName = 200

/** How much of the data stays: of each text, of the parts of each list or object, and how deep. The last always fits. */
type Room = { text: number; parts: number; depth: number }
const rooms: readonly Room[] = [
  { text: 4000, parts: 100, depth: 3 },
  { text: 500, parts: 20, depth: 2 },
  { text: 50, parts: 20, depth: 1 },
]

/**
 * An event within what one may be (core/domain/event.ts), whatever a model or a tool wrote in it: one that is larger keeps
 * the beginnings of its texts and lists, and says so (`shortened`).
 */
export function boundedEvent(event: AgentEvent): BoundedEvent {
  const bytes = bytesOf(event.data)
  const { toolName } = event
  const named = toolName === undefined ? event : { ...event, toolName: toolName.slice(0, maxToolName) }
  if (bytes <= maxDataBytes) return { event: named, bytes }
  for (const room of rooms) {
    const data = shortenedTo(event.data, room)
    const left = bytesOf(data)
    if (left <= maxDataBytes) return { event: { ...named, data }, bytes: left }
  }
  return { event: { ...named, data: { shortened: true } }, bytes: 0 }
}

function shortenedTo(data: Record<string, unknown>, room: Room): Record<string, unknown> {
  return { ...partsOf(data, room, 1), shortened: true }
}

function partsOf(record: Record<string, unknown>, room: Room, depth: number): Record<string, unknown> {
  const entries = Object.entries(record).slice(0, room.parts)
  return Object.fromEntries(entries.map(([key, part]) => [cut(key, room.text), shortened(part, room, depth)]))
}

function shortened(value: unknown, room: Room, depth: number): unknown {
  if (typeof value === 'string') return cut(value, room.text)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= room.depth) return clippedJson(value, room.text)
  if (isRecord(value)) return partsOf(value, room, depth + 1)
  if (!Array.isArray(value)) return value
  return value.slice(0, room.parts).map((part) => shortened(part, room, depth + 1))
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`
}

/** Infinity: it is no JSON, or too deep to be written. */
function bytesOf(data: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(data))
  } catch {
    return Infinity
  }
}
