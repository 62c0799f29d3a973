import { z } from 'zod'
import { attemptEvents } from './attempt-events.ts'
import { operationEvents } from './operation-events.ts'
import { reviewEvents } from './review-events.ts'
import { runEvents } from './run-events.ts'

/** Every event with its category, what it says, and the schema of its data, which is as other programs read it (snake_case). */
export const eventTable = { ...runEvents, ...operationEvents, ...attemptEvents, ...reviewEvents } as const

export type EventName = keyof typeof eventTable
export type EventCategory = (typeof eventTable)[EventName]['category']
export type EventData<Name extends EventName> = z.infer<(typeof eventTable)[Name]['data']>

export const EventName = z.custom<EventName>(
  (value) => typeof value === 'string' && Object.hasOwn(eventTable, value),
  'unknown event',
)

export const eventNames: readonly EventName[] = Object.keys(eventTable).map((name) => EventName.parse(name))
export const eventCategories: readonly EventCategory[] = [
  ...new Set(eventNames.map((name) => eventTable[name].category)),
]

/** Says what of the data is not as the table has it; undefined where all is. Events are not parsed when they are read. */
export function dataFault(name: EventName, data: Readonly<Record<string, unknown>>): string | undefined {
  if (data['shortened'] === true) return undefined
  const parsed = eventTable[name].data.safeParse(data)
  if (parsed.success) return undefined
  return parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'data'}: ${message}`).join('; ')
}
