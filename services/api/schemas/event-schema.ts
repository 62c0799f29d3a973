import { z } from 'zod'
import { EventOrigin, EventPhase, WireEvent } from '#domain/event.ts'
import { eventCategories, EventName, eventNames } from '#domain/events/event-table.ts'
import { RunStatusShape } from './run-schema.ts'

const fields = WireEvent.shape

export const EventCategoryShape = z.enum(eventCategories).meta({ id: 'EventCategory' })

const EventNameShape = z
  .custom<EventName>((name) => EventName.safeParse(name).success)
  .meta({ id: 'EventName', type: 'string', enum: [...eventNames] })

const EventOriginShape = z
  .strictObject({ ...EventOrigin.shape, kind: EventOrigin.shape.kind.meta({ id: 'EventOriginKind' }) })
  .meta({ id: 'EventOrigin' })

/** A numbered fact of a run. Fields that do not apply are left out. */
export const EventView = z
  .strictObject({
    ...fields,
    event: EventNameShape,
    category: EventCategoryShape,
    phase: EventPhase.meta({ id: 'EventPhase' }),
    status: fields.status.meta({ id: 'EventStatus' }),
    origin: EventOriginShape,
    data: fields.data.meta({ id: 'EventData' }),
  })
  .meta({ id: 'Event' })
export type EventView = z.infer<typeof EventView>

/** `next_after` is the `after` of the next page: the last event that was read, whether it matched or not. */
export const EventPage = z
  .strictObject({ events: z.array(EventView), next_after: z.int(), run_status: RunStatusShape })
  .meta({ id: 'EventPage' })
export type EventPage = z.infer<typeof EventPage>
