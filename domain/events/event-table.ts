import { z } from 'zod'
import { askEvents } from './ask-events.ts'
import { attemptEvents } from './attempt-events.ts'
import { conductorEvents, itemEvents } from './conductor-events.ts'
import { operationEvents } from './operation-events.ts'
import { reviewEvents } from './review-events.ts'
import { runEvents } from './run-events.ts'
import { watcherEvents } from './watcher-events.ts'

/** Every event with its category, what it says, and the schema of its data, which is as other programs read it (snake_case). */
export const eventTable = {
  ...runEvents,
  ...itemEvents,
  ...operationEvents,
  ...attemptEvents,
  ...reviewEvents,
  ...conductorEvents,
  ...watcherEvents,
  ...askEvents,
} as const

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

const ofOperation = [
  'run.planned',
  'item.started',
  'setup.finished',
  'operations.repeated',
  'operation.ended',
  'operation.skipped',
  'operation.retried',
  'operation.resumed',
  'operation.queued',
] as const
const lastOfOperation = [...ofOperation, 'operation.started', 'operation.suspended'] as const

const decisions = ['agenda.decided', 'plan.approved', 'conductor.decided', 'objective.refined'] as const
const heardByConductor = [
  ...decisions,
  'escalation.raised',
  'item.ended',
  'item.blocked',
  'objective.extended',
  'run.reopened',
] as const

/** The events that one may follow from, as its `causation_seq` says. What an attempt does is in order by itself, and has none. */
export const causesOf: Readonly<Partial<Record<EventName, readonly EventName[]>>> = {
  'operation.queued': ofOperation,
  'operation.started': ['operation.queued'],
  'operation.retried': ['operation.started'],
  'human_input.requested': ['operation.started', 'escalation.raised'],
  'operation.suspended': ['human_input.requested', 'operation.started'],
  'human_input.answered': ['operation.suspended', 'human_input.requested'],
  'operation.resumed': ['human_input.answered', 'operation.suspended'],
  'operation.failed': lastOfOperation,
  'operation.blocked': lastOfOperation,
  'operation.ended': lastOfOperation,
  'operation.skipped': lastOfOperation,
  'operations.repeated': ['operation.ended'],
  'agenda.decided': heardByConductor,
  'plan.approved': decisions,
  'conductor.decided': heardByConductor,
  'objective.refined': heardByConductor,
  'item.started': decisions,
  'item.ended': ['item.started'],
  'ask.answered': ['ask.received'],
  'ask.failed': ['ask.received'],
  'models.back': ['models.away'],
  'budget.renewed': ['budget.reached'],
  'run.reopened': ['decision.made'],
  'publication.opened': ['decision.made', 'run.composed'],
  'publication.updated': ['decision.made', 'run.composed'],
  'publication.failed': ['decision.made', 'run.composed'],
}

/** Says what of the data is not as the table has it; undefined where all is. Events are not parsed when they are read. */
export function dataFault(name: EventName, data: Readonly<Record<string, unknown>>): string | undefined {
  const parsed = eventTable[name].data.safeParse(data)
  if (parsed.success) return undefined
  return parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'data'}: ${message}`).join('; ')
}
