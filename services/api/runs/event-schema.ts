import { z } from '@hono/zod-openapi'
import { eventCategories, EventName, type EventCategory } from '#domain/event.ts'
import { RunStatus } from '#domain/run.ts'
import { WireEvent } from '#domain/wire-event.ts'

export const categories = [...new Set<EventCategory>(Object.values(eventCategories))]

/** A numbered fact of a run. What does not apply is left out. */
const EventView = z
  .strictObject({
    ...WireEvent.shape,
    event: z
      .custom<EventName>((name) => EventName.safeParse(name).success)
      .openapi({ type: 'string', enum: Object.keys(eventCategories) }),
  })
  .openapi('Event')

/** `next_after` is the last event looked at, matching or not: the `after` of the next page. */
export const EventPage = z
  .strictObject({ events: z.array(EventView), next_after: z.int(), run_status: RunStatus })
  .openapi('EventPage')
