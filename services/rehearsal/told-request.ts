import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { resultWords, toldWords } from '#models/wire/told-words.ts'
import type { ChatMessage, ChatRequest } from './chat-request.ts'

/** How a reply writes a call: as `tool_calls`, or as text. */
export type CallForm = 'tool_calls' | 'json' | 'tags'

const { listing: listed, names: named, callNow, mayWriteCall, mustWriteCall } = toldWords
const listing = new RegExp(`(?:^|\\n\\n)${listed}((?:\\n\\{.*\\})+)`)
const directive = new RegExp(`\\n*(?:${[callNow, mayWriteCall, mustWriteCall].join('|')}).*$`)
const directedTools = new RegExp(`${named}([\\w, -]+)\\.$`)
const ListedTool = z.object({ name: z.string(), parameters: z.unknown() })
const WrittenCall = z.object({ name: z.string(), arguments: z.unknown() })
const Tags = z.object({ format: z.object({ tags: z.array(z.object({ begin: z.string() })) }) })

/**
 * A request whose calls are text, for a server that lacks something, as the one it stands for: tools told in the first
 * message are offered, calls and results told as text are messages of their own, and what the reply's text is held to is a
 * choice of tool. `form` is how the reply is then written.
 */
export function readTold(chat: ChatRequest): { chat: ChatRequest; form: CallForm } {
  const form = formOf(chat)
  const tools = chat.tools.length > 0 ? chat.tools : listedTools(chat.messages)
  if (form === 'tool_calls') return { chat: { ...chat, tools, messages: toldMessages(chat.messages) }, form }
  const [only, ...others] = wantedNames(chat)
  const choice = only === undefined || others.length > 0 ? 'required' : { function: { name: only } }
  return { chat: { ...chat, tools, tool_choice: choice, messages: toldMessages(chat.messages) }, form }
}

function formOf({ messages, structured_outputs: outputs, response_format: format, grammar }: ChatRequest): CallForm {
  if (outputs?.structural_tag !== undefined) return 'tags'
  const isHeld = outputs?.grammar !== undefined || grammar !== undefined || format?.type === 'json_schema'
  return isHeld || directedTools.test(messages.at(-1)?.content ?? '') ? 'json' : 'tool_calls'
}

/** The tools that a reply in text may call; none when nothing says which. */
function wantedNames({ messages, structured_outputs: outputs }: ChatRequest): string[] {
  const tags = Tags.safeParse(parseJson(outputs?.structural_tag ?? '')).data?.format.tags ?? []
  const tagged = tags.flatMap(({ begin }) => /"name": "([^"]+)"/.exec(begin)?.[1] ?? [])
  if (tagged.length > 0) return tagged
  return directedTools.exec(messages.at(-1)?.content ?? '')?.[1]?.split(', ') ?? []
}

function listedTools(messages: readonly ChatMessage[]): ChatRequest['tools'] {
  const lines =
    listing
      .exec(messages[0]?.content ?? '')?.[1]
      ?.trim()
      .split('\n') ?? []
  return lines.flatMap((line) => {
    const tool = ListedTool.safeParse(parseJson(line)).data
    return tool === undefined ? [] : [{ function: tool }]
  })
}

function toldMessages(messages: readonly ChatMessage[]): ChatMessage[] {
  const read: ChatMessage[] = []
  let open: { id: string; name: string }[] = []
  for (const [index, message] of messages.entries()) {
    const told = message.content ?? ''
    const content = (index === 0 ? told.replace(listing, '') : told).replace(directive, '')
    const calls = message.role === 'assistant' && !message.tool_calls ? writtenCalls(content, index) : []
    if (calls.length > 0) {
      open = calls.map(({ id, function: { name } }) => ({ id, name }))
      read.push({ role: 'assistant', content: null, tool_calls: calls })
    } else if (open.length > 0 && message.role === 'user' && content.startsWith(resultWords(open[0]?.name ?? ''))) {
      read.push(...toldResults(content, open))
      open = []
    } else {
      read.push({ ...message, content: message.content === null ? null : content })
    }
  }
  return read
}

function writtenCalls(content: string, index: number) {
  return content.split('\n').flatMap((line, at) => {
    const call = WrittenCall.safeParse(parseJson(line)).data
    if (call === undefined) return []
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
    return [{ id: `told_${index}_${at}`, function: { name: call.name, arguments: text } }]
  })
}

function toldResults(content: string, calls: readonly { id: string; name: string }[]): ChatMessage[] {
  let rest = content
  return calls.map(({ id, name }, at) => {
    const from = rest.indexOf(resultWords(name)) + resultWords(name).length
    const next = calls[at + 1]
    const end = next === undefined ? -1 : rest.indexOf(`\n\n${resultWords(next.name)}`, from)
    const text = end === -1 ? rest.slice(from) : rest.slice(from, end)
    rest = end === -1 ? rest : rest.slice(end)
    return { role: 'tool' as const, tool_call_id: id, content: text }
  })
}
