import type { NewEvent } from '#domain/event.ts'
import { AppError } from '#domain/error.ts'
import { shownSentence } from './shown.ts'

/** An event of an attempt: the journal's owner adds whose it is. */
export type AgentEvent = Omit<NewEvent, 'origin' | 'operationId' | 'nodeId' | 'agent' | 'ageMs'>

/** Where the loop tells what happens. Emitting never waits and never throws. */
export type Journal = {
  emit(event: AgentEvent): void
  /** The error form of an event: keeps the code of an AppError. */
  emitError(event: AgentEvent['event'], phase: AgentEvent['phase'], error: unknown, data: AgentEvent['data']): void
}

/** Adds the error form to a plain `emit`. */
export function journalOver(emit: (event: AgentEvent) => void): Journal {
  return {
    emit,
    emitError(event, phase, error, data) {
      const reason = shownSentence(error instanceof Error ? error.message : String(error))
      const code = error instanceof AppError ? { errorCode: error.code } : {}
      emit({ event, phase, status: 'error', ...code, data: { ...data, reason } })
    },
  }
}
