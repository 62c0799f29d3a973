import './zod-without-code.ts'
import { summarizeEvent } from '#domain/timeline/summarize-event.ts'
import type { Event } from '#client/wire.ts'

/** Says an event in one sentence; one of a newer service, by its name. */
export function wordsOf(event: Event): string {
  try {
    return summarizeEvent(event)
  } catch {
    return event.event
  }
}

/** From so much silence on, it is shown. */
const idleMs = 60_000

/** Returns how long nothing happened before an event, in ms; undefined where that is not worth a word. */
export function silenceBefore(event: Event, before: Event | undefined): number | undefined {
  if (before === undefined) return undefined
  const ms = Date.parse(event.ts) - Date.parse(before.ts)
  return ms >= idleMs ? ms : undefined
}
