import type { NewEvent } from '#domain/event.ts'
import { isRecord } from '#domain/json.ts'

/** What of an event the fold reads: a stored event is one, and so is one about to be told. */
export type ContextEvent = Pick<NewEvent, 'event' | 'data'> &
  Partial<Pick<NewEvent, 'status' | 'operationId' | 'nodeId' | 'agent' | 'toolName' | 'errorCode'>>

/** A text of an event's data; empty when there is none of the name. */
export function textIn(data: ContextEvent['data'], name: string): string {
  const value = data[name]
  return typeof value === 'string' ? value : ''
}

/** A record of an event's data; empty when there is none of the name. */
export function recordIn(data: ContextEvent['data'], name: string): Record<string, unknown> {
  const value = data[name]
  return isRecord(value) ? value : {}
}
