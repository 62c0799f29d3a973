import type { Event } from '#domain/event.ts'
import { type EventName, eventTable } from '#domain/events/event-table.ts'

/** An event as it is read back; `operation` is its operation's id. */
export type GivenEvent = [name: EventName, operation?: string | undefined, data?: Record<string, unknown>]

/** The events of one run, numbered from 1. */
export function eventsOf(given: readonly GivenEvent[]): Event[] {
  return given.map(([event, operationId, data = {}], before) => ({
    v: 1,
    seq: before + 1,
    ts: 0,
    projectId: 'default',
    runId: 'r00000000',
    correlationId: 'r00000000',
    event,
    category: eventTable[event].category,
    phase: 'execution',
    status: 'ok',
    origin: { kind: 'worker', id: 'test' },
    data,
    ...(operationId === undefined ? {} : { operationId }),
  }))
}
