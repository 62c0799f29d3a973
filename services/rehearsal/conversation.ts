import { isRecord, parseJson } from '#domain/json.ts'
import type { ChatMessage, ChatRequest } from './chat-request.ts'

export type Step = { tool: string; args: unknown; result: unknown; failed: boolean }

export type Conversation = { steps: readonly Step[]; userText: string; tools: ReadonlyMap<string, unknown> }

const pathLike = /[\w./-]+/g
/** Recognises a path by the file's ending, since `order.total` in a piece of code is no path. */
const sourcePath = /^.+\.(?:cjs|css|go|html|java|json|jsx?|md|mjs|pyi?|rb|rs|toml|tsx?|txt|ya?ml)\b/

/** The id of a tool message that answers no call of an earlier message; servers refuse such a conversation. */
export function orphanedToolResult(messages: readonly ChatMessage[]): string | undefined {
  const called = new Set<string>()
  for (const message of messages) {
    for (const call of message.tool_calls ?? []) called.add(call.id)
    if (message.role === 'tool' && !called.has(message.tool_call_id ?? '')) return message.tool_call_id ?? '(none)'
  }
  return undefined
}

/** The name of a call whose arguments are no JSON; llama.cpp answers such a conversation with 500. */
export function unreadableCall(messages: readonly ChatMessage[]): string | undefined {
  const calls = messages.flatMap((message) => message.tool_calls ?? [])
  return calls.find((call) => parseJson(call.function.arguments) === undefined)?.function.name
}

/** The conversation as the rules read it: the calls in their order, with their answers. */
export function readConversation(request: ChatRequest): Conversation {
  const calls = new Map<string, { name: string; arguments: string }>()
  const steps: Step[] = []
  for (const message of request.messages) {
    for (const call of message.tool_calls ?? []) calls.set(call.id, call.function)
    const call = calls.get(message.tool_call_id ?? '')
    if (message.role === 'tool' && call !== undefined) steps.push(toStep(call, message.content ?? ''))
  }
  const userText = request.messages.find((message) => message.role === 'user')?.content ?? ''
  const tools = new Map(request.tools.map((tool) => [tool.function.name, tool.function.parameters]))
  return { steps, userText, tools }
}

export function lastResult(conversation: Conversation, tool: string): unknown {
  return conversation.steps.findLast((step) => step.tool === tool && !step.failed)?.result
}

/** The path that the conversation is about: one that a tool named, or the first in the user's message. */
export function filePath(conversation: Conversation): string | undefined {
  for (const { result } of conversation.steps) {
    if (isRecord(result) && typeof result['path'] === 'string') return result['path']
  }
  // Word by word: a search from every letter of a long word would take quadratic time.
  for (const [word] of conversation.userText.matchAll(pathLike)) {
    const path = sourcePath.exec(word)?.[0]
    if (path !== undefined) return path
  }
  return undefined
}

function toStep(call: { name: string; arguments: string }, content: string): Step {
  const answer = parsedOrText(content)
  const whole = isRecord(answer) ? answer : {}
  const failed = whole['outcome'] === 'error' || (whole['error'] !== undefined && whole['error'] !== null)
  return { tool: call.name, args: parsedOrText(call.arguments), result: whole['result'] ?? answer, failed }
}

/** A text that is no JSON stays as it is: a tool's plain answer, or arguments that a model got wrong. */
function parsedOrText(text: string): unknown {
  const parsed = parseJson(text)
  return parsed === undefined ? text : parsed
}
