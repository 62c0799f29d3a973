import { rehearsalLabel } from '#domain/model-kind.ts'
import { unreachable } from '#domain/error.ts'
import type { FaultName } from './faults.ts'
import type { Move } from './rule.ts'
import { type AssistantMessage, spoil } from './spoil-message.ts'
import type { CallForm } from './plain-request.ts'

export type Completion = ReturnType<typeof toCompletion>

type CompletionInput = { move: Move; form: CallForm; number: number; callNumber: number; promptChars: number }

export function toCompletion(input: CompletionInput, fault: FaultName | undefined) {
  const message = spoil(toMessage(input.move, input.form, `call_${input.callNumber}`), fault)
  // There is no tokenizer: four characters count as a token.
  const sent = Math.ceil(input.promptChars / 4)
  const written = Math.ceil(JSON.stringify(message).length / 4)
  return {
    id: `rehearsal-${input.number}`,
    created: Math.floor(Date.now() / 1000),
    message,
    finishReason: finishReasonOf(message, fault),
    usage: { prompt_tokens: sent, completion_tokens: written, total_tokens: sent + written },
  }
}

function toMessage(move: Move, form: CallForm, id: string): AssistantMessage {
  switch (move.kind) {
    case 'say':
      return { role: 'assistant', content: move.text }
    case 'call':
      if (form === 'json')
        return { role: 'assistant', content: JSON.stringify({ name: move.name, arguments: move.args }) }
      return {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: move.name, arguments: JSON.stringify(move.args) } }],
      }
    default:
      return unreachable(move)
  }
}

function finishReasonOf(message: AssistantMessage, fault: FaultName | undefined): 'stop' | 'tool_calls' | 'length' {
  if (fault === 'cut_call_in_content') return 'length'
  return message.tool_calls === undefined ? 'stop' : 'tool_calls'
}

export function completionBody(completion: Completion, fault: FaultName | undefined): string {
  if (fault === 'error_in_stream') return JSON.stringify(engineFault)
  return JSON.stringify({
    ...head(completion, 'chat.completion'),
    choices: [{ index: 0, message: completion.message, logprobs: null, finish_reason: completion.finishReason }],
    ...(fault === 'no_usage' ? {} : { usage: completion.usage }),
  })
}

/** vLLM reports a fault like this one, with status 200, after a reply has begun. */
const engineFault = {
  error: { message: 'rehearsed engine fault', type: 'InternalServerError', param: null, code: 500 },
}

function head({ id, created }: Completion, object: string): object {
  return { id, object, created, model: rehearsalLabel, system_fingerprint: rehearsalLabel }
}

/** Writes the body as server-sent events, in the chunks that vLLM sends: the arguments in two pieces, alternating between several calls. */
export function completionEvents(
  completion: Completion,
  { includeUsage, fault }: { includeUsage: boolean; fault: FaultName | undefined },
): string {
  const chunk = (rest: object) => JSON.stringify({ ...head(completion, 'chat.completion.chunk'), ...rest })
  const choice = (delta: object, finishReason: string | null) =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] })
  const written = deltas(completion.message).map((delta) => choice(delta, null))
  const rest = [
    choice({}, completion.finishReason),
    ...(includeUsage && fault !== 'no_usage' ? [chunk({ choices: [], usage: completion.usage })] : []),
  ]
  const parts =
    fault === 'error_in_stream' ? [...written.slice(0, 2), JSON.stringify(engineFault)] : [...written, ...rest]
  const text = [...parts, ...(fault === 'no_done' ? [] : ['[DONE]'])].map((part) => `data: ${part}\n\n`).join('')
  return fault === 'crlf' ? text.replaceAll('\n', '\r\n') : text
}

function deltas(message: AssistantMessage): object[] {
  const calls = message.tool_calls ?? []
  if (calls.length === 0) {
    return [{ role: 'assistant', content: '' }, ...halves(message.content ?? '').map((content) => ({ content }))]
  }
  const heads = calls.map(({ id, function: { name } }, index) => ({
    tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
  }))
  const pieces = [0, 1].flatMap((half) =>
    calls.map((call, index) => ({
      tool_calls: [{ index, function: { arguments: halves(call.function.arguments)[half] } }],
    })),
  )
  return [{ role: 'assistant', content: message.content }, ...heads, ...pieces]
}

function halves(text: string): [string, string] {
  const half = text.length >> 1
  return [text.slice(0, half), text.slice(half)]
}
