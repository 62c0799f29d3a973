import { z } from 'zod'
import type { EventOrigin, EventPhase, NewEvent } from '#domain/event.ts'
import { type EventName, eventTable } from '#domain/events/event-table.ts'

type Given = Partial<Omit<NewEvent, 'event' | 'data' | 'phase' | 'origin'>> & {
  event?: EventName
  phase?: EventPhase
  origin?: EventOrigin
  data?: Readonly<Record<string, unknown>>
}

const Typed = z.custom<NewEvent>()

/** An event whose data has what its schema asks for, and what the test gives besides. */
export function anEvent({ event = 'turn.finished', data, ...over }: Given = {}): NewEvent {
  const head = { phase: 'model', origin: { kind: 'worker', id: 'test' }, ...over } as const
  return Typed.parse({ event, ...head, data: { ...Record.parse(sampleOf(eventTable[event].data)), ...data } })
}

const Record = z.record(z.string(), z.unknown())

/** The least that such a schema takes, as far as it has no checks of its own. */
function sampleOf(schema: z.core.$ZodType): unknown {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape).filter(([, field]) => !(field instanceof z.ZodOptional))
    return Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(field)]))
  }
  if (schema instanceof z.ZodEnum) return schema.options[0]
  if (schema instanceof z.ZodLiteral) return schema.value
  if (schema instanceof z.ZodNullable) return null
  if (schema instanceof z.ZodArray) return []
  if (schema instanceof z.ZodRecord) return {}
  if (schema instanceof z.ZodBoolean) return false
  return schema instanceof z.ZodNumber ? 1 : 'a word'
}
