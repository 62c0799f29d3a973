import type { Message, RequestedCall } from '#domain/turn.ts'
import type { ToolRun } from '#objects/attempt-record.ts'
import { submitToolName } from '#bundles/submit-tool.ts'
import { calledEvent, returnedEvent, turnWithoutCall } from './call-events.ts'
import type { AgentEvent } from './journal.ts'
import { retoldSubmission } from './submission-answer.ts'

/**
 * What tools and loop answered in an attempt, as the events that told it, out of its record: an attempt that goes on from
 * another one has heard none of that one's. `messages` may be a part of the conversation that begins with its first reply.
 */
export function retoldEvents(messages: readonly Message[], toolRuns: readonly ToolRun[]): AgentEvent[] {
  const runs = Map.groupBy(toolRuns, ({ turn, callId }) => `${turn} ${callId}`)
  const events: AgentEvent[] = []
  let turn = 0
  let open: RequestedCall[] = []
  for (const message of messages) {
    if (message.role === 'assistant') {
      turn += 1
      open = [...message.toolCalls]
    } else if (message.role === 'tool') {
      const call = open.find(({ id }) => id === message.toolCallId)
      open = open.filter((one) => one !== call)
      if (call !== undefined) events.push(...retoldAnswer(turn, call, message.content, runs))
    } else if (message.role === 'user' && turn > 0) {
      events.push(turnWithoutCall(turn, { reason: message.content }))
    }
  }
  return events
}

/** Nothing is said of a call that was not run. */
function retoldAnswer(
  turn: number,
  call: RequestedCall,
  words: string,
  runs: ReadonlyMap<string, ToolRun[]>,
): AgentEvent[] {
  if (call.name === submitToolName) {
    const submission = retoldSubmission(turn, call, words)
    return submission === undefined ? [] : [submission]
  }
  const run = runs.get(`${turn} ${call.id}`)?.shift()
  return run === undefined ? [] : [calledEvent(turn, call), returnedEvent({ ...run, call })]
}
