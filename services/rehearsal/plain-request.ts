import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { resultPrefix, promptPhrases } from '#models/wire/plain-prompt.ts'
import type { ChatMessage, ChatRequest } from './chat-request.ts'

export type CallForm = 'tool_calls' | 'json'

const { listing: listed, names: named, callNow, mayWriteCall, mustWriteCall } = promptPhrases
const listing = new RegExp(`(?:^|\\n\\n)${listed}((?:\\n\\{.*\\})+)`)
const directive = new RegExp(`\\n*(?:${[callNow, mayWriteCall, mustWriteCall].join('|')}).*$`)
const directedTools = new RegExp(`(${named}|${callNow})([\\w, -]+)\\.$`)
const ListedTool = z.object({ name: z.string(), parameters: z.unknown() })
const WrittenCall = z.object({ name: z.string(), arguments: z.unknown() })

/**
 * Undoes the model pool's workarounds for servers that lack tool calls: listed tools become offered ones, calls and results
 * written as text become messages, and a constraint becomes a choice of tool. `form` is how the reply is then written.
 */
export function readPlainRequest(chat: ChatRequest): { chat: ChatRequest; form: CallForm } {
  const { structured_outputs: outputs, response_format: format } = chat
  const [, how, names] = directedTools.exec(chat.messages.at(-1)?.content ?? '') ?? []
  const isText = outputs !== undefined || format?.type === 'json_schema' || how === named
  const read = {
    ...chat,
    tools: chat.tools.length > 0 ? chat.tools : listedTools(chat.messages),
    messages: messagesOf(chat.messages),
  }
  if (!isText && names === undefined) return { chat: read, form: 'tool_calls' }
  const [only, ...others] = names?.split(', ') ?? []
  const choice = only === undefined || others.length > 0 ? 'required' : { function: { name: only } }
  return { chat: { ...read, tool_choice: choice }, form: isText ? 'json' : 'tool_calls' }
}

function listedTools(messages: readonly ChatMessage[]): ChatRequest['tools'] {
  const [, listedLines = ''] = listing.exec(messages[0]?.content ?? '') ?? []
  return listedLines.split('\n').flatMap((line) => {
    const tool = ListedTool.safeParse(parseJson(line)).data
    return tool === undefined ? [] : [{ function: tool }]
  })
}

function messagesOf(messages: readonly ChatMessage[]): ChatMessage[] {
  const read: ChatMessage[] = []
  let open: { id: string; name: string }[] = []
  for (const [index, message] of messages.entries()) {
    const text = message.content ?? ''
    const content = (index === 0 ? text.replace(listing, '') : text).replace(directive, '')
    const calls = message.role === 'assistant' && !message.tool_calls ? writtenCalls(content, index) : []
    if (calls.length > 0) {
      open = calls.map(({ id, function: { name } }) => ({ id, name }))
      read.push({ role: 'assistant', content: null, tool_calls: calls })
    } else if (open.length > 0 && message.role === 'user' && content.startsWith(resultPrefix(open[0]?.name ?? ''))) {
      read.push(...writtenResults(content, open))
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
    return [{ id: `text_${index}_${at}`, function: { name: call.name, arguments: text } }]
  })
}

function writtenResults(content: string, calls: readonly { id: string; name: string }[]): ChatMessage[] {
  let rest = content
  return calls.map(({ id, name }, at) => {
    const from = rest.indexOf(resultPrefix(name)) + resultPrefix(name).length
    const next = calls[at + 1]
    const end = next === undefined ? -1 : rest.indexOf(`\n\n${resultPrefix(next.name)}`, from)
    const text = end === -1 ? rest.slice(from) : rest.slice(from, end)
    rest = end === -1 ? rest : rest.slice(end)
    return { role: 'tool' as const, tool_call_id: id, content: text }
  })
}
