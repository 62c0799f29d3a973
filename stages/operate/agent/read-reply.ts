import type { ErrorCode } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import type { Message, ModelReply, RequestedCall } from '#domain/turn.ts'
import { submitToolName } from '#bundles/tool-definition.ts'
import { openCallIds } from '#models/wire/from-openai.ts'
import type { AgentSettings } from './agent-settings.ts'
import { submissionOf } from './submission.ts'

/** Says why a reply has no call to run: the code the attempt may end with, the reason, and the correction for the model. */
export type ReplyFault = { code: ErrorCode; reason: string; correction: string }

/** A reply as the history gets it, and the fault if none of its calls can be run. */
export type ReadReply = { reply: ModelReply; fault?: ReplyFault | undefined }

type ReadBy = Pick<AgentSettings, 'toolChoice' | 'maxTokens' | 'oneTurn'>

/** Reads the calls of a reply; with `auto`, content that is just a valid submission is one. A call cut short is dropped, since servers refuse to read it again. */
export function readReply(reply: ModelReply, messages: readonly Message[], settings: ReadBy): ReadReply {
  const isCut = reply.finishReason === 'length'
  if (reply.toolCalls.length > 0) {
    const whole = isCut ? completeCalls(reply.toolCalls) : reply.toolCalls
    const toolCalls = wantedCalls(whole, settings)
    const fault = whole.length === 0 ? cutShort(settings) : withoutCall(reply, settings)
    return { reply: { ...reply, toolCalls }, fault: toolCalls.length === 0 ? fault : undefined }
  }
  const maySubmit = settings.toolChoice === 'auto' && settings.oneTurn === undefined
  const submission = maySubmit ? submissionInContent(reply, messages) : undefined
  if (submission !== undefined) return { reply: { ...reply, content: null, toolCalls: [submission] } }
  return { reply, fault: isCut ? cutShort(settings) : withoutCall(reply, settings) }
}

/** A tool without arguments may be called with empty text, but in the last call of a cut reply they may be missing. */
function completeCalls(calls: readonly RequestedCall[]): RequestedCall[] {
  return calls.filter(({ arguments: given }, at) => {
    return parseJson(given) !== undefined || (given.trim() === '' && at < calls.length - 1)
  })
}

function submissionInContent(
  { content, callFault }: ModelReply,
  messages: readonly Message[],
): RequestedCall | undefined {
  if (content === null || callFault !== undefined) return undefined
  const id = openCallIds(messages)(undefined)
  const call = { id, name: submitToolName, arguments: content, parsedFromContent: true }
  return submissionOf(call).kind === 'valid' ? call : undefined
}

function wantedCalls(calls: readonly RequestedCall[], { oneTurn }: ReadBy): RequestedCall[] {
  if (oneTurn === undefined) return [...calls]
  return calls.filter(({ name }) => name === oneTurn.carryOut).slice(0, 1)
}

function insteadOf({ oneTurn }: ReadBy): string {
  if (oneTurn !== undefined) return `Call ${oneTurn.carryOut} and nothing else.`
  return 'Call one of the tools; when the work is finished, call submit_result.'
}

function withoutCall({ callFault, toolCalls }: ModelReply, settings: ReadBy): ReplyFault {
  const instead = insteadOf(settings)
  if (toolCalls.length > 0) {
    const reason = `the model called another tool than ${settings.oneTurn?.carryOut}`
    return { code: 'AGENT_003', reason, correction: `You called another tool. ${instead}` }
  }
  if (callFault === undefined) {
    const reason = 'the model answered without calling a tool'
    return { code: 'AGENT_003', reason, correction: `You answered without a tool call. ${instead}` }
  }
  const reason = `the model's tool call is not whole: ${callFault}`
  return { code: 'AGENT_009', reason, correction: `Your tool call could not be read: ${callFault}. ${instead}` }
}

function cutShort(settings: ReadBy): ReplyFault {
  const { maxTokens } = settings
  const reason = `the model's answer was cut at max_tokens (${maxTokens}) before it had called a tool`
  const shorter = `Your answer was cut at ${maxTokens} tokens before a tool call was whole. Answer in fewer words.`
  const correction = `${shorter} ${insteadOf(settings)}`
  return { code: 'AGENT_007', reason, correction }
}
