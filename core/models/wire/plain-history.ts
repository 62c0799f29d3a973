import { parseJson } from '#domain/json.ts'
import type { Message, RequestedCall } from '#domain/turn.ts'
import { resultWords } from './told-words.ts'

/**
 * The conversation for a template without tool messages: a call is what the assistant wrote, its result what the user
 * says. Neighbours of one role become one message, since such templates want user and assistant to alternate.
 */
export function withoutToolMessages(messages: readonly Message[]): Message[] {
  const names = new Map<string, string>()
  const plain: Message[] = []
  for (const message of messages) {
    if (message.role === 'assistant') for (const { id, name } of message.toolCalls) names.set(id, name)
    addMerged(plain, withoutTools(message, names))
  }
  return plain
}

/** The conversation for a template without a system role: its text comes first in the first message of the user. */
export function withoutSystemRole(messages: readonly Message[]): Message[] {
  const rules = messages.flatMap((message) => (message.role === 'system' ? [message.content] : []))
  const rest = messages.filter((message) => message.role !== 'system')
  if (rules.length === 0) return rest
  const [first, ...others] = rest
  const text = rules.join('\n\n')
  if (first?.role !== 'user') return [{ role: 'user', content: text }, ...rest]
  return [{ role: 'user', content: `${text}\n\n${first.content}` }, ...others]
}

/** With `text` at the end of the first message: what all turns share stays what all turns begin with. */
export function withTextInFirst(messages: readonly Message[], text: string): Message[] {
  const [first, ...rest] = messages
  if (first?.role !== 'system' && first?.role !== 'user') return [{ role: 'user', content: text }, ...messages]
  return [{ ...first, content: `${first.content}\n\n${text}` }, ...rest]
}

/** With `text` at the end of the last message, or as the user's word after the assistant's. */
export function withTextInLast(messages: readonly Message[], text: string): Message[] {
  const last = messages.at(-1)
  if (last === undefined || last.role === 'assistant') return [...messages, { role: 'user', content: text }]
  return [...messages.slice(0, -1), { ...last, content: `${last.content}\n\n${text}` }]
}

function withoutTools(message: Message, names: ReadonlyMap<string, string>): Message {
  if (message.role === 'tool') {
    return { role: 'user', content: `${resultWords(names.get(message.toolCallId) ?? 'a tool')}${message.content}` }
  }
  if (message.role !== 'assistant' || message.toolCalls.length === 0) return message
  const said = message.content === null || message.content === '' ? [] : [message.content]
  return { role: 'assistant', content: [...said, ...message.toolCalls.map(writtenCall)].join('\n'), toolCalls: [] }
}

/** As the reply parser reads it; arguments that are no JSON stay the text they are. */
function writtenCall({ name, arguments: given }: RequestedCall): string {
  const parsed = parseJson(given)
  return JSON.stringify({ name, arguments: parsed === undefined ? given : parsed })
}

function addMerged(messages: Message[], message: Message): void {
  const last = messages.at(-1)
  if (last?.role === 'user' && message.role === 'user') {
    messages[messages.length - 1] = { role: 'user', content: `${last.content}\n\n${message.content}` }
  } else if (last?.role === 'assistant' && message.role === 'assistant') {
    const content = [last.content, message.content].filter((text) => text !== null && text !== '').join('\n')
    messages[messages.length - 1] = { role: 'assistant', content, toolCalls: [] }
  } else {
    messages.push(message)
  }
}
