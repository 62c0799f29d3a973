import type { ToolDefinition } from '#domain/turn.ts'
import type { ContentReading, WrittenCall } from './content-reading.ts'
import { endOfJson } from './end-of-json.ts'
import { readJsonCalls } from './read-json-calls.ts'
import { functionTag, readQwenFunction } from './read-qwen-function.ts'
import { endsInside, textFrom } from './text-position.ts'

const opening = '<tool_call>'
const closing = '</tool_call>'
const cut = { fault: 'the text ends within a call' }

type TaggedCalls = { calls: WrittenCall[]; end: number } | { fault: string } | undefined

/**
 * Calls between `<tool_call>` tags, as Hermes and Qwen write them (JSON) and Qwen3-Coder (`<function=name>`, which often
 * comes without the tags around it), with text around them. Undefined when there is none.
 */
export function readTaggedCalls(text: string, tools: readonly ToolDefinition[]): ContentReading | undefined {
  const calls: WrittenCall[] = []
  const around: string[] = []
  let readTo = 0
  const tags = /<tool_call>|<function=/g
  for (let tag = tags.exec(text); tag !== null; tag = tags.exec(text)) {
    const isBare = tag[0] === functionTag
    const read = isBare ? readBareFunction(text, tag.index, tools) : readCall(text, tags.lastIndex, tools)
    if (read === undefined) continue // a tag that is only mentioned
    if ('fault' in read) return read
    calls.push(...read.calls)
    around.push(text.slice(readTo, tag.index))
    readTo = read.end
    tags.lastIndex = read.end
  }
  if (calls.length === 0) return undefined
  const tail = text.slice(readTo)
  if (endsInside(tail, opening) || endsInside(tail, functionTag)) return cut
  const rest = [...around, tail].map((piece) => piece.trim()).filter(Boolean)
  // A value that holds the closing tags has ended too early.
  const hasTags = rest.some((piece) => /<\/(?:parameter|function)>/.test(piece))
  return hasTags ? { fault: 'there are closing tags outside a call' } : { calls, rest: rest.join('\n') }
}

function readCall(text: string, from: number, tools: readonly ToolDefinition[]): TaggedCalls {
  const read = readInside(text, textFrom(text, from), tools)
  if (read === undefined || 'fault' in read) return read
  const end = textFrom(text, read.end)
  if (!text.startsWith(closing, end)) return { fault: `a call does not end with ${closing}` }
  return { calls: read.calls, end: end + closing.length }
}

function readInside(text: string, start: number, tools: readonly ToolDefinition[]): TaggedCalls {
  if (text.startsWith(functionTag, start)) return readQwenFunction(text, start, tools)
  if (functionTag.startsWith(text.slice(start, start + functionTag.length))) return cut
  if (text[start] !== '{' && text[start] !== '[') return undefined
  const end = endOfJson(text, start)
  if (end === undefined) return cut
  const reading = readJsonCalls(text.slice(start, end), { marked: true })
  if (reading === undefined) return { fault: 'a call is empty' }
  return reading.fault === undefined ? { calls: reading.calls, end } : { fault: reading.fault }
}

/** Without the tags around it, only what names an offered tool is a call. */
function readBareFunction(text: string, start: number, tools: readonly ToolDefinition[]): TaggedCalls {
  const isOffered = tools.some(({ name }) => text.startsWith(`${functionTag}${name}>`, start))
  const isCut = tools.some(({ name }) => `${functionTag}${name}>`.startsWith(text.slice(start)))
  if (!isOffered) return isCut ? cut : undefined
  const read = readQwenFunction(text, start, tools)
  if (read === undefined || 'fault' in read) return read
  const end = textFrom(text, read.end)
  return { calls: read.calls, end: text.startsWith(closing, end) ? end + closing.length : read.end }
}
