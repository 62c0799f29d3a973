import type { AssistantMessage } from './assistant-message.ts'
import type { FaultName } from './faults.ts'
import { gemmaCall, hermesCall, jsonCall, qwenCall, type WrittenOut } from './written-calls.ts'

const oversizedLength = 12 * 1024 * 1024

const inContent: Partial<Record<FaultName, WrittenOut>> = {
  json_in_content: jsonCall,
  hermes_in_content: hermesCall,
  functiongemma_in_content: gemmaCall,
  qwen_in_content: qwenCall,
  cut_call_in_content: (name, args) => cut(hermesCall(name, args)),
}

/** The message as a model that has this fault says it. */
export function spoil(message: AssistantMessage, fault: FaultName | undefined): AssistantMessage {
  const call = message.tool_calls?.[0]
  if (fault === undefined) return message
  if (fault === 'oversized') return { ...message, content: 'x'.repeat(oversizedLength) }
  if (fault === 'no_tool_call') return { role: 'assistant', content: 'I would rather talk about it.' }
  if (call === undefined) return message
  const { name, arguments: args } = call.function
  const written = inContent[fault]?.(name, args)
  if (written !== undefined) return { role: 'assistant', content: written }
  const withFunction = (changed: { name: string; arguments: string }): AssistantMessage => ({
    ...message,
    tool_calls: [{ ...call, function: changed }],
  })
  switch (fault) {
    case 'malformed_arguments':
      return withFunction({ name, arguments: `${args.slice(0, -1)},"cut": "o` })
    case 'unknown_tool':
      return withFunction({ name: 'no_such_tool', arguments: '{}' })
    case 'parallel_calls':
      return { ...message, tool_calls: [call, { ...call, id: `${call.id}_again` }] }
    default:
      return message
  }
}

function cut(text: string): string {
  return text.slice(0, Math.ceil((text.length * 2) / 3))
}
