import type OpenAI from 'openai'
import type { Message, ModelRequest, RequestedCall, ToolChoice, ToolDefinition } from '#domain/turn.ts'
import { unreachable } from '#domain/unreachable.ts'

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming

/** Tools by their definitions' array: a bundle's array lives as long as the bundle, so each is mapped once. */
const mappedTools = new WeakMap<readonly ToolDefinition[], OpenAI.ChatCompletionFunctionTool[]>()

/**
 * The request in the words of `POST /v1/chat/completions`. Without tools neither `tools` nor `tool_choice` is sent,
 * since servers refuse an empty list.
 */
export function toOpenAi(request: ModelRequest): Body {
  const body: Body = {
    model: request.model,
    messages: request.messages.map(toMessage),
    temperature: request.temperature,
    max_tokens: request.maxTokens,
  }
  if (request.tools.length === 0) return body
  return { ...body, tools: toTools(request.tools), tool_choice: toToolChoice(request.toolChoice) }
}

function toMessage(message: Message): OpenAI.ChatCompletionMessageParam {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content }
    case 'assistant':
      return message.toolCalls.length === 0
        ? { role: 'assistant', content: message.content ?? '' }
        : { role: 'assistant', content: message.content, tool_calls: message.toolCalls.map(toCall) }
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content }
    default:
      return unreachable(message)
  }
}

function toCall(call: RequestedCall): OpenAI.ChatCompletionMessageFunctionToolCall {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } }
}

function toTools(definitions: readonly ToolDefinition[]): OpenAI.ChatCompletionFunctionTool[] {
  const known = mappedTools.get(definitions)
  if (known !== undefined) return known
  const tools = definitions.map(toTool)
  mappedTools.set(definitions, tools)
  return tools
}

function toTool({ name, description, parameters }: ToolDefinition): OpenAI.ChatCompletionFunctionTool {
  return { type: 'function', function: { name, description, parameters: { ...parameters } } }
}

function toToolChoice(choice: ToolChoice): OpenAI.ChatCompletionToolChoiceOption {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } }
}
