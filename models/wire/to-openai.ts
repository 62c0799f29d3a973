import type OpenAI from 'openai'
import { isRecord, parseJson } from '#domain/json.ts'
import type { Message, ModelRequest, RequestedCall, ToolDefinition } from '#domain/turn.ts'
import { unreachable } from '#domain/error.ts'
import { boundTools } from './bounded-tools.ts'
import type { Capabilities } from './capabilities.ts'
import { type ConstraintKeys, plainSchema } from './call-constraint.ts'
import {
  promptPhrases,
  withoutSystemRole,
  withoutToolMessages,
  withTextInFirst,
  withTextInLast,
} from './plain-prompt.ts'
import { openWorkaround, planCall, type CallPlan } from './plan-call.ts'

type Body = Omit<OpenAI.ChatCompletionCreateParams, 'response_format'> & ConstraintKeys

/**
 * Returns the body of `POST /v1/chat/completions` as this server takes it, and the workarounds that this needed, which are of
 * this request alone. Without tools neither `tools` nor `tool_choice` is sent: servers refuse an empty list.
 */
export function toOpenAi(request: ModelRequest, capabilities: Capabilities, { stream }: { stream: boolean }) {
  const plan = planCall(request, capabilities)
  const body: Body = {
    model: request.model,
    messages: historyFor(request.messages, capabilities, plan).map(toMessage),
    temperature: request.temperature,
    max_tokens: request.maxTokens,
    ...plan.keys,
  }
  if (stream) {
    body.stream = true
    if (capabilities.streamUsage) body.stream_options = { include_usage: true }
  }
  if (plan.offered.length === 0) return { body, workarounds: plan.workarounds }
  body.tools = toTools(offeredTools(plan, request.maxTokens, capabilities), capabilities, plan.workarounds)
  const { toolChoice } = plan
  body.tool_choice =
    typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.name } }
  if (request.parallelCalls !== undefined) {
    if (capabilities.parallelCalls) body.parallel_tool_calls = request.parallelCalls
    else plan.workarounds.push('parallel_tool_calls: not sent')
  }
  return { body, workarounds: plan.workarounds }
}

/** Tools are alike for every choice that holds arguments to their schema: they are in the prompt, and all turns of a bundle begin alike. */
function offeredTools(plan: CallPlan, maxTokens: number, { lengths }: Capabilities): readonly ToolDefinition[] {
  if (plan.toolChoice === 'none') return plan.offered
  const { tools, isOpen } = boundTools(plan.offered, { lengths, maxTokens, isClosed: false })
  if (isOpen) plan.workarounds.push(openWorkaround)
  return tools
}

function historyFor(messages: readonly Message[], capabilities: Capabilities, plan: CallPlan): readonly Message[] {
  let history = messages
  // Templates may refuse calls in the history of a request that offers no tools.
  const isPlain = !capabilities.toolMessages || plan.offered.length + plan.listed.length === 0
  if (isPlain && messages.some(({ role }) => role === 'tool')) {
    history = withoutToolMessages(history)
    plan.workarounds.push('tool messages: as plain text')
  }
  if (!capabilities.systemRole && messages.some(({ role }) => role === 'system')) {
    history = withoutSystemRole(history)
    plan.workarounds.push('system message: in the first message of the user')
  }
  if (plan.listed.length > 0) history = withTextInFirst(history, listTools(plan.listed))
  return plan.directive === undefined ? history : withTextInLast(history, plan.directive)
}

function listTools(tools: readonly ToolDefinition[]): string {
  const lines = tools.map(({ name, description, parameters }) => JSON.stringify({ name, description, parameters }))
  return [promptPhrases.listing, ...lines].join('\n')
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

/** Arguments that are no JSON object are sent as `{}`: llama.cpp answers 500 to every later turn with such a call. */
function toCall({ id, name, arguments: given }: RequestedCall): OpenAI.ChatCompletionMessageFunctionToolCall {
  return { id, type: 'function', function: { name, arguments: isRecord(parseJson(given)) ? given : '{}' } }
}

function toTools(
  definitions: readonly ToolDefinition[],
  { strictSchemas, strictArguments }: Capabilities,
  workarounds: string[],
): OpenAI.ChatCompletionFunctionTool[] {
  if (!strictSchemas) workarounds.push('strict schemas: without additionalProperties')
  if (!strictArguments) workarounds.push('strict: not sent')
  const strict = strictArguments ? { strict: true } : {}
  return definitions.map(({ name, description, parameters }) => {
    const schema = strictSchemas ? { ...parameters } : plainSchema(parameters)
    return { type: 'function', function: { name, description, parameters: schema, ...strict } }
  })
}
