import { rehearsalLabel } from '#domain/rehearsal-label.ts'
import { unreachable } from '#domain/unreachable.ts'
import type { FaultName } from './faults.ts'
import type { Move } from './rules/rule.ts'
import type { CallForm } from './told-request.ts'

const oversizedLength = 12 * 1024 * 1024

export type AssistantMessage = {
  role: 'assistant'
  content: string | null
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
}

export type Completion = {
  id: string
  created: number
  message: AssistantMessage
  finishReason: 'stop' | 'tool_calls'
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}

export type CompletionInput = { move: Move; form: CallForm; number: number; callNumber: number; promptChars: number }

/** The reply to a request, spoilt the way `fault` says where it is one of the model's own faults. */
export function toCompletion(input: CompletionInput, fault: FaultName | undefined): Completion {
  const message = spoil(toMessage(input.move, input.form, `call_${input.callNumber}`), fault)
  // Counted by a plain rule, a token for four characters, since there is no tokenizer.
  const promptTokens = Math.ceil(input.promptChars / 4)
  const completionTokens = Math.ceil(JSON.stringify(message).length / 4)
  return {
    id: `rehearsal-${input.number}`,
    created: Math.floor(Date.now() / 1000),
    message,
    finishReason: message.tool_calls === undefined ? 'stop' : 'tool_calls',
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  }
}

/** The body of an answer that is not streamed. */
export function completionBody(completion: Completion): string {
  return JSON.stringify({
    ...head(completion, 'chat.completion'),
    choices: [{ index: 0, message: completion.message, logprobs: null, finish_reason: completion.finishReason }],
    usage: completion.usage,
  })
}

/**
 * The body as server-sent events, in the chunks vLLM sends for a tool call: role, name, the arguments in two pieces,
 * finish reason, usage when asked for, `[DONE]`.
 */
export function completionEvents(completion: Completion, includeUsage: boolean): string {
  const event = (rest: object) =>
    `data: ${JSON.stringify({ ...head(completion, 'chat.completion.chunk'), ...rest })}\n\n`
  const choice = (delta: object, finishReason: string | null) =>
    event({ choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] })
  return [
    ...deltas(completion.message).map((delta) => choice(delta, null)),
    choice({}, completion.finishReason),
    ...(includeUsage ? [event({ choices: [], usage: completion.usage })] : []),
    'data: [DONE]\n\n',
  ].join('')
}

function head(completion: Completion, object: string): object {
  return {
    id: completion.id,
    object,
    created: completion.created,
    model: rehearsalLabel,
    system_fingerprint: rehearsalLabel,
  }
}

function toMessage(move: Move, form: CallForm, id: string): AssistantMessage {
  switch (move.kind) {
    case 'say':
      return { role: 'assistant', content: move.text }
    case 'call':
      if (form !== 'tool_calls') return { role: 'assistant', content: writtenCall(move, form) }
      return {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: move.name, arguments: JSON.stringify(move.args) } }],
      }
    default:
      return unreachable(move)
  }
}

function writtenCall({ name, args }: Extract<Move, { kind: 'call' }>, form: 'json' | 'tags'): string {
  const text = JSON.stringify({ name, arguments: args })
  return form === 'json' ? text : `<tool_call>\n${text}\n</tool_call>`
}

function spoil(message: AssistantMessage, fault: FaultName | undefined): AssistantMessage {
  const call = message.tool_calls?.[0]
  if (fault === 'oversized') return { ...message, content: 'x'.repeat(oversizedLength) }
  if (fault === 'no_tool_call') return { role: 'assistant', content: 'I would rather talk about it.' }
  if (call === undefined) return message
  const { name, arguments: args } = call.function
  const withFunction = (changed: { name: string; arguments: string }): AssistantMessage => ({
    ...message,
    tool_calls: [{ ...call, function: changed }],
  })
  switch (fault) {
    case 'json_in_content':
      return { role: 'assistant', content: `{"name":${JSON.stringify(name)},"arguments":${args}}` }
    case 'malformed_arguments':
      return withFunction({ name, arguments: `${args.slice(0, -1)},"cut": "o` })
    case 'unknown_tool':
      return withFunction({ name: 'no_such_tool', arguments: '{}' })
    default:
      return message
  }
}

function deltas(message: AssistantMessage): object[] {
  const call = message.tool_calls?.[0]
  if (call === undefined) return [{ role: 'assistant', content: '' }, { content: message.content }]
  const { name, arguments: args } = call.function
  const half = args.length >> 1
  const piece = (text: string) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] })
  return [
    { role: 'assistant', content: message.content },
    { tool_calls: [{ index: 0, id: call.id, type: 'function', function: { name, arguments: '' } }] },
    piece(args.slice(0, half)),
    piece(args.slice(half)),
  ]
}
