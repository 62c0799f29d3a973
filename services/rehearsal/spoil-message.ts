import { isRecord, parseJson } from '#domain/json.ts'
import type { FaultName } from './faults.ts'

export type AssistantMessage = {
  role: 'assistant'
  content: string | null
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
}

const oversizedLength = 12 * 1024 * 1024

/** The message as a model with this fault would write it. */
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

const inContent: Partial<Record<FaultName, (name: string, args: string) => string>> = {
  json_in_content: jsonCall,
  hermes_in_content: hermesCall,
  functiongemma_in_content: gemmaCall,
  qwen_in_content: qwenCall,
  cut_call_in_content: (name, args) => cut(hermesCall(name, args)),
}

function jsonCall(name: string, args: string): string {
  return `{"name":${JSON.stringify(name)},"arguments":${args}}`
}

function hermesCall(name: string, args: string): string {
  return `I call ${name}.\n<tool_call>\n${jsonCall(name, args)}\n</tool_call>`
}

function gemmaCall(name: string, args: string): string {
  return `<start_function_call>call:${name}${gemmaValue(parseJson(args))}<end_function_call>`
}

function qwenCall(name: string, args: string): string {
  const given = parseJson(args)
  const parameters = Object.entries(isRecord(given) ? given : {}).map(
    ([key, value]) =>
      `<parameter=${key}>\n${typeof value === 'string' ? value : JSON.stringify(value)}\n</parameter>\n`,
  )
  return `<tool_call>\n<function=${name}>\n${parameters.join('')}</function>\n</tool_call>`
}

function gemmaValue(value: unknown): string {
  if (typeof value === 'string') return `<escape>${value}<escape>`
  if (Array.isArray(value)) return `[${value.map(gemmaValue).join(',')}]`
  if (!isRecord(value)) return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, item]) => `${key}:${gemmaValue(item)}`)
  return `{${entries.join(',')}}`
}

function cut(text: string): string {
  return text.slice(0, Math.ceil((text.length * 2) / 3))
}
