import type { Event } from '#domain/event.ts'

/** Events of a run that are archived together: all of them, from number `first` to number `last`. */
export type EventSegment = { projectId: string; runId: string; first: number; last: number }

/** Where the events go that are trimmed from a run's stream. */
export type EventArchive = {
  /** Stores a whole segment; the same one again changes nothing. */
  put(segment: EventSegment, events: readonly Event[]): Promise<void>
  /** Up to `limit` of its events after number `after`, in order; undefined when the segment was never stored. */
  get(segment: EventSegment, page: { after: number; limit: number }): Promise<Event[] | undefined>
}

/** A segment's length. Never to be changed: the number of an event alone says in which segment it is. */
export const segmentLength = 1_000

/** The segment that event number `seq` of the run lies in. */
export function segmentOf(run: { projectId: string; runId: string }, seq: number): EventSegment {
  const first = seq - ((seq - 1) % segmentLength)
  return { projectId: run.projectId, runId: run.runId, first, last: first + segmentLength - 1 }
}
