import { submitToolName } from '#bundles/tool-definition.ts'
import type { Message, RequestedCall } from '#domain/turn.ts'
import type { ToolRun } from '#store/objects/attempt-record.ts'
import { foldContext } from '../context/fold-context.ts'
import { joinSections, renderContext } from '../context/render-context.ts'
import { calledEvent, returnedEvent, turnWithoutCall, type AgentEvent } from './journal.ts'
import type { Transcript } from './open-transcript.ts'
import { replayedSubmission } from './submission.ts'

/** Messages are left out to make room, so the note that replaces them is short. */
const maxTokens = 500

/**
 * The text that replaces messages that are left out: what was done in them, and what the attempt has learned and what
 * failed last, up to now. The same conversation and the same part of it give the same text.
 */
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

/**
 * The events of an attempt's calls, rebuilt from its record: an attempt that continues another one never received that
 * one's events. `messages` may be the beginning of a conversation, or a part of it that begins with its first reply.
 */
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
      open = open.filter((one) => one !== call)
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

/** Returns nothing for a call that was not run. */
function replayedAnswer(turn: number, call: RequestedCall, run: ToolRun | undefined): AgentEvent[] {
  if (call.name === submitToolName) return [replayedSubmission(turn, call, run) ?? []].flat()
  return run === undefined ? [] : [calledEvent(turn, call), returnedEvent({ ...run, call })]
}
