import { parseJson } from '#domain/json.ts'
import type { Message, RequestedCall } from '#domain/turn.ts'

/** Writes calls and results as text, and joins messages of one role: such templates want them to alternate. */
export function withoutToolMessages(messages: readonly Message[]): Message[] {
  const names = new Map<string, string>()
  const plain: Message[] = []
  for (const message of messages) {
    if (message.role === 'assistant') for (const { id, name } of message.toolCalls) names.set(id, name)
    addMerged(plain, withoutTools(message, names))
  }
  return plain
}

/** A template without a system role gets its text at the beginning of the first user message. */
export function withoutSystemRole(messages: readonly Message[]): Message[] {
  const rules = messages.flatMap((message) => (message.role === 'system' ? [message.content] : []))
  const rest = messages.filter((message) => message.role !== 'system')
  if (rules.length === 0) return rest
  const [first, ...others] = rest
  const text = rules.join('\n\n')
  if (first?.role !== 'user') return [{ role: 'user', content: text }, ...rest]
  return [{ role: 'user', content: `${text}\n\n${first.content}` }, ...others]
}

export function withTextInFirst(messages: readonly Message[], text: string): Message[] {
  const [first, ...rest] = messages
  if (first?.role !== 'system' && first?.role !== 'user') return [{ role: 'user', content: text }, ...messages]
  return [{ ...first, content: `${first.content}\n\n${text}` }, ...rest]
}

/** The text goes into the last message, or after the assistant's into one of the user. */
export function withTextInLast(messages: readonly Message[], text: string): Message[] {
  const last = messages.at(-1)
  if (last === undefined || last.role === 'assistant') return [...messages, { role: 'user', content: text }]
  return [...messages.slice(0, -1), { ...last, content: `${last.content}\n\n${text}` }]
}

function withoutTools(message: Message, names: ReadonlyMap<string, string>): Message {
  if (message.role === 'tool') {
    return { role: 'user', content: `${resultPrefix(names.get(message.toolCallId) ?? 'a tool')}${message.content}` }
  }
  if (message.role !== 'assistant' || message.toolCalls.length === 0) return message
  const words = message.content === null || message.content === '' ? [] : [message.content]
  return { role: 'assistant', content: [...words, ...message.toolCalls.map(writtenCall)].join('\n'), toolCalls: [] }
}

/** The reply parser reads this form; arguments that are no JSON stay text. */
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

/** The rehearsal model reads these by patterns made of them, so they have no special characters of regular expressions. */
export const promptPhrases = {
  listing: 'Tools:',
  names: 'Tools: ',
  callNow: 'Call one of these tools now and say nothing else: ',
  mayWriteCall: 'To call a tool, answer with this JSON and nothing else: ',
  mustWriteCall: 'Answer with one tool call as this JSON and nothing else: ',
} as const

export function resultPrefix(tool: string): string {
  return `Result of ${tool}: `
}
