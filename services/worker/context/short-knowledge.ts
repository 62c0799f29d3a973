import { oneLine } from './one-line.ts'

const maxKeys = 20
const maxKey = 100
const maxValue = 200

/** A tool's `knowledge_delta` as it fits an event: its first keys; a value that is too long as the beginning of its JSON. */
export function shortKnowledge(delta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(delta).slice(0, maxKeys)
  return Object.fromEntries(entries.map(([key, value]) => [oneLine(key, maxKey), shortValue(value)]))
}

function shortValue(value: unknown): unknown {
  const json = JSON.stringify(value) ?? ''
  return json.length <= maxValue ? value : oneLine(json, maxValue)
}
