import { z } from '@hono/zod-openapi'
import { eventCategories, type EventCategory, EventName, EventOrigin, EventPhase, WireEvent } from '#domain/event.ts'
import { named } from '../http/schema-parts.ts'
import { RunStatusShape } from './run-schema.ts'

const fields = WireEvent.shape

export const EventCategoryShape = z
  .enum([...new Set<EventCategory>(Object.values(eventCategories))])
  .openapi('EventCategory')

const EventNameShape = z
  .custom<EventName>((name) => EventName.safeParse(name).success)
  .openapi('EventName', { type: 'string', enum: Object.keys(eventCategories) })

const EventOriginShape = z
  .strictObject({ ...EventOrigin.shape, kind: named('EventOriginKind', EventOrigin.shape.kind) })
  .openapi('EventOrigin')

/** A numbered fact of a run. What does not apply is left out. */
const EventView = z
  .strictObject({
    ...fields,
    event: EventNameShape,
    category: EventCategoryShape,
    phase: named('EventPhase', EventPhase),
    status: named('EventStatus', fields.status),
    origin: EventOriginShape,
    data: named('EventData', fields.data),
  })
  .openapi('Event')

/** `next_after` is the last event looked at, matching or not: the `after` of the next page. */
export const EventPage = z
  .strictObject({ events: z.array(EventView), next_after: z.int(), run_status: RunStatusShape })
  .openapi('EventPage')
