import type { ErrorCode } from '#domain/error.ts'
import type { RequestedCall } from '#domain/turn.ts'
import { shortKnowledge } from '../context/short-knowledge.ts'
import type { AgentEvent } from './journal.ts'
import { shownName, shownSentence } from './shown.ts'
import type { RanTool } from './transcript.ts'

/** That a tool was called. `resumed`: its call goes on with a person's answer, and is told for the second time. */
export function calledEvent(turn: number, call: RequestedCall, more: { resumed?: true } = {}): AgentEvent {
  const flag = call.parsedFromContent === true ? { parsed_from_content: true } : {}
  const data = { turn, call_id: shownName(call.id), arguments: call.arguments.slice(0, 2000), ...flag, ...more }
  return { event: 'tool.called', phase: 'tools', toolName: shownName(call.name), data }
}

/** What it came to, short enough for an event. */
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
      summary: result.summary.slice(0, 1000),
      ...(Object.keys(knowledge).length === 0 ? {} : { knowledge }),
    },
  }
}

/** That a reply held no call the loop could go on with. The code is not known of a turn that is told again. */
export function turnWithoutCall(turn: number, { code, reason }: { code?: ErrorCode; reason: string }): AgentEvent {
  const coded = code === undefined ? {} : { errorCode: code }
  return {
    event: 'turn.finished',
    phase: 'model',
    status: 'error',
    ...coded,
    data: { turn, calls: 0, reason: shownSentence(reason) },
  }
}
