import type { ErrorCode } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import type { Message, ModelReply, RequestedCall } from '#domain/turn.ts'
import { submitToolName } from '#bundles/submit-tool.ts'
import { openCallIds } from '#models/wire/call-ids.ts'
import type { AgentSettings } from './agent-settings.ts'
import { submissionOf } from './submission.ts'

/** A reply that no call can be taken from: the code it ends with, why, and what the model is told once. */
export type ReplyFault = { code: ErrorCode; reason: string; correction: string }

/** A reply as it stands in the history, with what the loop goes on with: calls, or what is wrong. */
export type ReadReply = { reply: ModelReply; fault?: ReplyFault | undefined }

type ReadBy = Pick<AgentSettings, 'toolChoice' | 'maxTokens'>

/**
 * What a reply comes to. With `auto`, content that is a valid submission and nothing else is its call, flagged; plain text
 * never is. Calls that the token limit cut short are none, and stand in no history: servers refuse to read them again. Those
 * before them that are whole are run. `messages` is the conversation so far.
 */
export function readReply(reply: ModelReply, messages: readonly Message[], settings: ReadBy): ReadReply {
  const isCut = reply.finishReason === 'length'
  if (reply.toolCalls.length > 0) {
    const toolCalls = isCut ? wholeCalls(reply.toolCalls) : reply.toolCalls
    return { reply: { ...reply, toolCalls }, fault: toolCalls.length === 0 ? cutShort(settings) : undefined }
  }
  const submission = settings.toolChoice === 'auto' ? writtenSubmission(reply, messages) : undefined
  if (submission !== undefined) return { reply: { ...reply, content: null, toolCalls: [submission] } }
  return { reply, fault: isCut ? cutShort(settings) : withoutCall(reply) }
}

/** Arguments of a tool without any may be empty; those of the last call of a cut reply may not have come yet. */
function wholeCalls(calls: readonly RequestedCall[]): RequestedCall[] {
  return calls.filter(({ arguments: given }, at) => {
    return parseJson(given) !== undefined || (given.trim() === '' && at < calls.length - 1)
  })
}

function writtenSubmission(
  { content, callFault }: ModelReply,
  messages: readonly Message[],
): RequestedCall | undefined {
  if (content === null || callFault !== undefined) return undefined
  const id = openCallIds(messages)(undefined)
  const call = { id, name: submitToolName, arguments: content, parsedFromContent: true }
  return submissionOf(call).kind === 'valid' ? call : undefined
}

const instead = 'Call one of the tools; when the work is finished, call submit_result.'

function withoutCall({ callFault }: ModelReply): ReplyFault {
  if (callFault === undefined) {
    const reason = 'the model answered without calling a tool'
    return { code: 'AGENT_003', reason, correction: `You answered without a tool call. ${instead}` }
  }
  const reason = `the model's tool call is not whole: ${callFault}`
  return { code: 'AGENT_009', reason, correction: `Your tool call could not be read: ${callFault}. ${instead}` }
}

function cutShort({ maxTokens }: ReadBy): ReplyFault {
  const reason = `the model's answer was cut at max_tokens (${maxTokens}) before it had called a tool`
  const correction = `Your answer was cut at ${maxTokens} tokens before a tool call was whole. Answer in fewer words. ${instead}`
  return { code: 'AGENT_007', reason, correction }
}
