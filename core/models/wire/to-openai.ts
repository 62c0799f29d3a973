import type OpenAI from 'openai'
import { isRecord, parseJson } from '#domain/json.ts'
import type { Message, ModelRequest, RequestedCall, ToolChoice, ToolDefinition } from '#domain/turn.ts'
import { unreachable } from '#domain/unreachable.ts'
import type { Capabilities } from './capabilities.ts'
import type { ConstraintKeys } from './call-constraint.ts'
import { withoutSystemRole, withoutToolMessages, withTextInFirst, withTextInLast } from './plain-history.ts'
import { plainSchema } from './plain-schema.ts'
import { planCall, type CallPlan } from './plan-call.ts'
import { toldWords } from './told-words.ts'

type Body = Omit<OpenAI.ChatCompletionCreateParams, 'response_format'> & ConstraintKeys

/** Tools by their definitions' array: a bundle's array lives as long as the bundle, so each is mapped once. */
type MappedTools = WeakMap<readonly ToolDefinition[], OpenAI.ChatCompletionFunctionTool[]>
const mappedTools = new Map<string, MappedTools>()
/** Every call goes with every later turn of its conversation, and its arguments may be a whole file. */
const mappedCalls = new WeakMap<RequestedCall, OpenAI.ChatCompletionMessageFunctionToolCall>()

/**
 * The request in the words of `POST /v1/chat/completions` that this server takes, and what had to be said in other words.
 * Without tools neither `tools` nor `tool_choice` is sent, since servers refuse an empty list. What a workaround adds to the
 * conversation is in this request alone.
 */
export function toOpenAi(
  request: ModelRequest,
  capabilities: Capabilities,
  { stream }: { stream: boolean },
): { body: Body; workarounds: string[] } {
  const plan = planCall(request, capabilities)
  const body: Body = {
    model: request.model,
    messages: tellHistory(request.messages, capabilities, plan).map(toMessage),
    temperature: request.temperature,
    max_tokens: request.maxTokens,
    ...plan.keys,
  }
  if (stream) {
    body.stream = true
    if (capabilities.streamUsage) body.stream_options = { include_usage: true }
  }
  if (plan.offered.length === 0) return { body, workarounds: plan.workarounds }
  body.tools = toTools(plan.offered, capabilities, plan.workarounds)
  body.tool_choice = toToolChoice(plan.toolChoice)
  if (request.parallelCalls !== undefined) {
    if (capabilities.parallelCalls) body.parallel_tool_calls = request.parallelCalls
    else plan.workarounds.push('parallel_tool_calls: not sent')
  }
  return { body, workarounds: plan.workarounds }
}

function tellHistory(messages: readonly Message[], capabilities: Capabilities, plan: CallPlan): readonly Message[] {
  let told = messages
  if (!capabilities.toolMessages && messages.some(({ role }) => role === 'tool')) {
    told = withoutToolMessages(told)
    plan.workarounds.push('tool messages: as plain text')
  }
  if (!capabilities.systemRole && messages.some(({ role }) => role === 'system')) {
    told = withoutSystemRole(told)
    plan.workarounds.push('system message: in the first message of the user')
  }
  if (plan.listed.length > 0) told = withTextInFirst(told, listTools(plan.listed))
  return plan.directive === undefined ? told : withTextInLast(told, plan.directive)
}

function listTools(tools: readonly ToolDefinition[]): string {
  const lines = tools.map(({ name, description, parameters }) => JSON.stringify({ name, description, parameters }))
  return [toldWords.listing, ...lines].join('\n')
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

/**
 * Arguments that are no JSON object go as `{}`: their result says what was wrong with them, and a server that reads the
 * arguments of the history (llama.cpp) answers 500 to every later turn with such a call in it.
 */
function toCall(call: RequestedCall): OpenAI.ChatCompletionMessageFunctionToolCall {
  const known = mappedCalls.get(call)
  if (known !== undefined) return known
  const { id, name, arguments: given } = call
  const sent = {
    id,
    type: 'function',
    function: { name, arguments: isRecord(parseJson(given)) ? given : '{}' },
  } as const
  mappedCalls.set(call, sent)
  return sent
}

type StrictWays = Pick<Capabilities, 'strictSchemas' | 'strictArguments'>

function toTools(
  definitions: readonly ToolDefinition[],
  { strictSchemas, strictArguments }: StrictWays,
  workarounds: string[],
): OpenAI.ChatCompletionFunctionTool[] {
  if (!strictSchemas) workarounds.push('strict schemas: without additionalProperties')
  if (!strictArguments) workarounds.push('strict: not sent')
  const ways = { strictSchemas, strictArguments }
  const way = JSON.stringify(ways)
  const mapped = mappedTools.get(way) ?? new WeakMap()
  mappedTools.set(way, mapped)
  const tools = mapped.get(definitions) ?? definitions.map((definition) => toTool(definition, ways))
  mapped.set(definitions, tools)
  return tools
}

function toTool(
  { name, description, parameters }: ToolDefinition,
  { strictSchemas, strictArguments }: StrictWays,
): OpenAI.ChatCompletionFunctionTool {
  const schema = strictSchemas ? { ...parameters } : plainSchema(parameters)
  const strict = strictArguments ? { strict: true } : {}
  return { type: 'function', function: { name, description, parameters: schema, ...strict } }
}

function toToolChoice(choice: ToolChoice): OpenAI.ChatCompletionToolChoiceOption {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } }
}
