import type { AssistantMessage } from './assistant-message.ts'
import { engineFault, head, type Completion } from './completion.ts'
import type { FaultName } from './faults.ts'

/**
 * The body as server-sent events, in the chunks vLLM sends for tool calls: role, names, the arguments in two pieces, those
 * of several calls by turns, finish reason, usage when asked for, `[DONE]`.
 */
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
