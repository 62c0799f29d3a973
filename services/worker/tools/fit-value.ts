import { isRecord } from '#domain/json.ts'
import { clip } from './clip.ts'

/** How long a text and a list may be, from generous to tight; the first that makes the whole short enough holds. */
const cuts = [
  { text: 8_000, items: 400 },
  { text: 4_000, items: 200 },
  { text: 2_000, items: 100 },
  { text: 1_000, items: 50 },
  { text: 400, items: 20 },
  { text: 120, items: 8 },
] as const

/** Deeper values are written as text: what a tool answers may be nested deeper than a stack. */
const maxDepth = 60

/**
 * `value` such that its JSON has at most about `max` characters and can still be read: long texts lose their middle, long
 * lists their end, and both say how much. A value that is short enough comes back as it is.
 */
export function fitValue(value: unknown, max: number): unknown {
  if (lengthOf(value) <= max) return value
  for (const cut of cuts) {
    const shortened = shorten(value, cut, 0)
    if (lengthOf(shortened) <= max) return shortened
  }
  return clip(JSON.stringify(shorten(value, { text: 120, items: 8 }, 0)) ?? '', max)
}

function lengthOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0
}

function shorten(value: unknown, cut: { text: number; items: number }, depth: number): unknown {
  if (typeof value === 'string') return clip(value, cut.text)
  if (depth > maxDepth) return '… nested too deeply to be shown …'
  if (Array.isArray(value)) {
    const shown = value.slice(0, cut.items).map((item) => shorten(item, cut, depth + 1))
    return value.length > cut.items ? [...shown, `… ${value.length - cut.items} more are left out …`] : shown
  }
  if (!isRecord(value)) return value
  const entries = Object.entries(value)
  const shown = entries.slice(0, cut.items).map(([key, item]) => [key, shorten(item, cut, depth + 1)] as const)
  return Object.fromEntries(
    entries.length > cut.items ? [...shown, ['…', `${entries.length - cut.items} more keys are left out`]] : shown,
  )
}
