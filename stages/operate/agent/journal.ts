import type { NewEvent } from '#domain/event.ts'
import type { EventData } from '#domain/events/event-table.ts'
import { AppError, type ErrorCode } from '#domain/error.ts'
import type { RequestedCall } from '#domain/turn.ts'
import { shortened, shortKnowledge } from '../context/bounded-text.ts'
import type { RanTool } from './open-transcript.ts'

/** An event of an attempt, without the fields that say which attempt: the journal's owner adds them. */
export type AgentEvent = OfAttempt<NewEvent>
type OfAttempt<Given> = Given extends NewEvent
  ? Omit<Given, 'origin' | 'operationId' | 'nodeId' | 'agent' | 'ageMs' | 'data'> & {
      data: Omit<Given['data'], 'attempt'>
    }
  : never

/** Takes the events of the loop. Emitting never waits and never throws. */
export type Journal = {
  emit(event: AgentEvent): void
  /** Emits that the model has not answered. */
  emitError(error: unknown, data: Pick<EventData<'model.responded'>, 'turn' | 'duration_ms'>): void
}

export function journalOver(emit: (event: AgentEvent) => void): Journal {
  return {
    emit,
    emitError(error, data) {
      const reason = shortened(error instanceof Error ? error.message : String(error), maxSentence)
      const code = error instanceof AppError ? { errorCode: error.code } : {}
      emit({ event: 'model.responded', phase: 'model', status: 'error', ...code, data: { ...data, reason } })
    },
  }
}

/** Limits what an event shows of a foreign name, and of a sentence. The record has the whole text. */
const [maxName, maxSentence] = [200, 2000]

export function shownName(text: string): string {
  return shortened(text, maxName)
}

/** `resumed`: the call continues with a person's answer, and this is its second event. */
export function calledEvent(turn: number, call: RequestedCall, more: { resumed?: true } = {}): AgentEvent {
  const flag = flagsOf(call)
  const data = { turn, call_id: shownName(call.id), arguments: call.arguments, ...flag, ...more }
  return { event: 'tool.called', phase: 'tools', toolName: shownName(call.name), data }
}

/** Says where a call comes from, if not from the call of a reply. */
export function flagsOf({ parsedFromContent, byCode }: RequestedCall) {
  return {
    ...(parsedFromContent === true ? { parsed_from_content: true } : {}),
    ...(byCode === true ? { by_code: true } : {}),
  }
}

export function returnedEvent({ turn, call, result, durationMs }: RanTool): AgentEvent {
  const knowledge = shortKnowledge(result.knowledgeDelta)
  return {
    event: 'tool.returned',
    phase: 'tools',
    toolName: shownName(call.name),
    durationMs,
    status: result.outcome === 'error' ? 'error' : 'ok',
    ...(result.errorCode === undefined ? {} : { errorCode: result.errorCode }),
    data: {
      turn,
      call_id: shownName(call.id),
      outcome: result.outcome,
      summary: result.summary,
      ...(Object.keys(knowledge).length === 0 ? {} : { knowledge }),
    },
  }
}

/** `repeated`: the tool whose call was made too often with the same answer; the next turn is the last one. */
export function turnWithCalls(turn: number, calls: number, repeated: string | undefined): AgentEvent {
  const data = { turn, calls, ...(repeated === undefined ? {} : { repeated: shownName(repeated) }) }
  return { event: 'turn.finished', phase: 'execution', data }
}

/** A reply had no call that the loop could run. The code of a replayed turn is not known. */
export function turnWithoutCall(turn: number, { code, reason }: { code?: ErrorCode; reason: string }): AgentEvent {
  const coded = code === undefined ? {} : { errorCode: code }
  const data = { turn, calls: 0, reason: shortened(reason, maxSentence) }
  return { event: 'turn.finished', phase: 'model', status: 'error', ...coded, data }
}
