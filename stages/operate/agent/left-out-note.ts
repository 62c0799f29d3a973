import { submitToolName } from '#bundles/tool-definition.ts'
import type { Message, RequestedCall } from '#domain/turn.ts'
import type { ToolRun } from '#store/objects/attempt-record.ts'
import { foldContext } from '../context/fold-context.ts'
import { joinSections, renderContext } from '../context/render-context.ts'
import { calledEvent, returnedEvent, turnWithoutCall, type AgentEvent } from './journal.ts'
import type { Transcript } from './open-transcript.ts'
import { replayedSubmission } from './submission.ts'

const maxTokens = 500

/** Says what was done in the messages that are left out, what has been learned and what failed last. The same conversation gives the same text. */
export function leftOutNote(
  { messages, toolRuns }: Pick<Transcript, 'messages' | 'toolRuns'>,
  leftOut: readonly Message[],
): string {
  const { lastError, knowledge } = foldContext(replayedEvents(messages, toolRuns))
  const { shortTrack } = foldContext(replayedEvents(leftOut, toolRuns))
  const empty = { longTrack: [], relatedCode: { excerpts: [], more: 0 } }
  const track = renderContext({ lastError, shortTrack, knowledge, ...empty }, { maxTokens })
  return joinSections([`(${leftOut.length} messages that followed are left out here.)`, track])
}

/** Rebuilds the events of an attempt's calls from its record: an attempt that continues another one never received that one's events. */
function replayedEvents(messages: readonly Message[], toolRuns: readonly ToolRun[]): AgentEvent[] {
  const runs = Map.groupBy(toolRuns, runKey)
  const events: AgentEvent[] = []
  let turn = 0
  let open: RequestedCall[] = []
  for (const message of messages) {
    if (message.role === 'assistant') {
      turn += 1
      open = [...message.toolCalls]
    } else if (message.role === 'tool') {
      const call = open.find(({ id }) => id === message.toolCallId)
      open = open.filter((other) => other !== call)
      if (call === undefined) continue
      const run = runs.get(runKey({ turn, callId: call.id, name: call.name }))?.shift()
      events.push(...replayedAnswer(turn, call, run))
    } else if (message.role === 'user' && turn > 0) {
      events.push(turnWithoutCall(turn, { reason: message.content }))
    }
  }
  return events
}

/** Servers may use one id for several calls, even of one turn. */
function runKey({ turn, callId, name }: Pick<ToolRun, 'turn' | 'callId' | 'name'>): string {
  return `${turn} ${name} ${callId}`
}

function replayedAnswer(turn: number, call: RequestedCall, run: ToolRun | undefined): AgentEvent[] {
  if (call.name === submitToolName) return [replayedSubmission(turn, call, run) ?? []].flat()
  return run === undefined ? [] : [calledEvent(turn, call), returnedEvent({ ...run, call })]
}
