import { z } from 'zod'
import { Escalation, escalationKinds } from '#domain/agenda.ts'
import type { Event } from '#domain/event.ts'
import { type WatchThresholds, WatchWindow } from '#domain/events/watcher-events.ts'

const Seq = z.int().min(1)
const kind = z.enum(escalationKinds)

/** The number and the time of an event, and how many operations had ended by then. */
const Sign = z.tuple([Seq, z.number(), z.int()])

/**
 * Is all that the watcher keeps of a run: its size does not grow with the run. `cursor`: the last event that was looked at. `ends`: the
 * last ends of operations, and which were bad. `signs`: the last events that speak for a kind of trouble. `caused`: events that the
 * watcher has caused, with the number of steps from one of its own. `quiet`: until when a kind chooses no window. `pending`: windows
 * that are not reviewed. `raising`: escalations of reviews that are recorded, which were not sent. `raised`: when each key was raised.
 */
export const WatchState = z.strictObject({
  cursor: z.int().min(0),
  ends: z.array(z.tuple([Seq, z.boolean()])),
  signs: z.partialRecord(kind, z.array(Sign)),
  moved: z.strictObject({ seq: Seq, at: z.number() }).nullable(),
  spent: z.strictObject({ tokens: z.int(), planned: z.int(), begun: z.int(), ended: z.int() }),
  caused: z.array(z.tuple([Seq, z.int()])),
  quiet: z.partialRecord(kind, z.number()),
  pending: z.array(WatchWindow),
  raising: z.array(Escalation.extend({ from_seq: Seq, to_seq: Seq, command: z.string() })),
  raised: z.record(z.string(), z.number()),
})
export type WatchState = z.infer<typeof WatchState>

export const unwatched: WatchState = {
  cursor: 0,
  ends: [],
  signs: {},
  moved: null,
  spent: { tokens: 0, planned: 0, begun: 0, ended: 0 },
  caused: [],
  quiet: {},
  pending: [],
  raising: [],
  raised: {},
}

/** `budget`: how many tokens the run may use; null: any number. */
export type WatchedBy = { thresholds: WatchThresholds; budget: number | null }

/** Only so many steps from an event of the watcher count as caused by it: work that is done for it later is looked at like any other. */
const maxSteps = 2
const keptCaused = 200

/** Says whether the event is one of the watcher's own, or follows from one, as its origin and its cause say; notes it, if so. */
export function isOwnEffect({ caused }: WatchState, { seq, origin, causationSeq }: Event): boolean {
  const before = caused.find(([cause]) => cause === causationSeq)?.[1]
  const steps = origin.kind === 'watcher' ? 0 : before === undefined ? Infinity : before + 1
  if (steps > maxSteps) return false
  caused.push([seq, steps])
  caused.splice(0, caused.length - keptCaused)
  return true
}

/** Adds the window unless its kind has had one a while ago. `at` is the time of the event, or of the clock, that completes it. */
export function choose({ quiet, pending }: WatchState, window: WatchWindow, at: number, coolDownMs: number): void {
  if (at < (quiet[window.kind] ?? 0)) return
  quiet[window.kind] = at + coolDownMs
  pending.push(window)
}
