import { rehearsalLabel } from '#domain/rehearsal-label.ts'
import { unreachable } from '#domain/unreachable.ts'
import type { AssistantMessage } from './assistant-message.ts'
import type { FaultName } from './faults.ts'
import type { Move } from './rules/rule.ts'
import { spoil } from './spoil-message.ts'
import type { CallForm } from './told-request.ts'

export type Completion = {
  id: string
  created: number
  message: AssistantMessage
  finishReason: 'stop' | 'tool_calls' | 'length'
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
    finishReason: finishReasonOf(message, fault),
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  }
}

function finishReasonOf(message: AssistantMessage, fault: FaultName | undefined): Completion['finishReason'] {
  if (fault === 'cut_call_in_content') return 'length'
  return message.tool_calls === undefined ? 'stop' : 'tool_calls'
}

/** The body of an answer that is not streamed. */
export function completionBody(completion: Completion, fault: FaultName | undefined): string {
  if (fault === 'error_in_stream') return JSON.stringify(engineFault)
  return JSON.stringify({
    ...head(completion, 'chat.completion'),
    choices: [{ index: 0, message: completion.message, logprobs: null, finish_reason: completion.finishReason }],
    ...(fault === 'no_usage' ? {} : { usage: completion.usage }),
  })
}

/** In the words of vLLM, which says so with status 200 where the answer has begun. */
export const engineFault = {
  error: { message: 'rehearsed engine fault', type: 'InternalServerError', param: null, code: 500 },
}

export function head(completion: Completion, object: string): object {
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
