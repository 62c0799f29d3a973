import type { ToolDefinition } from '#domain/turn.ts'
import type { SignReading } from './content-reading.ts'
import { endOfJson } from './end-of-json.ts'
import { readJsonCalls } from './read-json-calls.ts'
import { functionTag, readQwenFunction } from './read-qwen-function.ts'
import { textFrom } from './text-position.ts'

const closing = '</tool_call>'
/** Whatever a reader goes on to look for behind this, it is looked for once: what has it is a call, or the reply is broken. */
const begunFunction = /<function=[^\s<>]{1,256}>\s*<(?:parameter=|\/function)/y
const cut = { fault: 'the text ends within a call' }

/** What Hermes and Qwen (JSON) and Qwen3-Coder (`<function=name>`) write behind `<tool_call>`, which ends at `start`. */
export function readTaggedCall(text: string, start: number, tools: readonly ToolDefinition[]): SignReading {
  const read = readInside(text, textFrom(text, start), tools)
  if (read === undefined || 'fault' in read) return read
  const end = textFrom(text, read.end)
  if (!text.startsWith(closing, end)) return { fault: `a call does not end with ${closing}` }
  return { calls: read.calls, end: end + closing.length }
}

/** Qwen3-Coder's function at `start`, which often comes without the tags around it, or with the closing one alone. */
export function readBareFunction(text: string, start: number, tools: readonly ToolDefinition[]): SignReading {
  const read = readQwenFunction(text, start, tools)
  if (read === undefined) return undefined
  if ('fault' in read) {
    const isMeant = tools.some(({ name }) => `${functionTag}${name}>`.startsWith(text.slice(start, start + 300)))
    begunFunction.lastIndex = start
    const isBegun = begunFunction.test(text)
    const isOffered = tools.some(({ name }) => text.startsWith(`${functionTag}${name}>`, start))
    return isMeant || isBegun || isOffered ? read : undefined
  }
  const end = textFrom(text, read.end)
  return { calls: read.calls, end: text.startsWith(closing, end) ? end + closing.length : read.end }
}

function readInside(text: string, start: number, tools: readonly ToolDefinition[]): SignReading {
  if (text.startsWith(functionTag, start)) return readQwenFunction(text, start, tools)
  if (functionTag.startsWith(text.slice(start, start + functionTag.length))) return cut
  if (text[start] !== '{' && text[start] !== '[') return undefined
  const end = endOfJson(text, start)
  if (end === undefined) return cut
  const reading = readJsonCalls(text.slice(start, end), { marked: true })
  if (reading === undefined) return { fault: 'a call is empty' }
  return 'fault' in reading ? reading : { calls: reading.calls, end }
}
