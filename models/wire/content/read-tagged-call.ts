import type { ToolDefinition } from '#domain/turn.ts'
import { isRecord, parseJson } from '#domain/json.ts'
import { argumentsText, endOfJson, type SignReading, textFrom } from './content-reading.ts'
import { readJsonCalls } from './read-json-calls.ts'

const closing = '</tool_call>'
/** A text that has this is a call, or the reply is broken; so what follows it is searched for only once. */
const begunFunction = /<function=[^\s<>]{1,256}>\s*<(?:parameter=|\/function)/y
const cut = { fault: 'the text ends within a call' }

/** Reads what Hermes and Qwen (JSON) and Qwen3-Coder (`<function=name>`) write after `<tool_call>`, which ends at `start`. */
export function readTaggedCall(text: string, start: number, tools: readonly ToolDefinition[]): SignReading {
  const read = readInside(text, textFrom(text, start), tools)
  if (read === undefined || 'fault' in read) return read
  const end = textFrom(text, read.end)
  if (!text.startsWith(closing, end)) return { fault: `a call does not end with ${closing}` }
  return { calls: read.calls, end: end + closing.length }
}

/** Reads Qwen3-Coder's function at `start`, which often has no tags around it, or only the closing one. */
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

const functionTag = '<function='
const endTag = '</function>'
const afterValue = /<\/parameter>\s*(?=<parameter=|<\/function>)/g

/** Reads Qwen3-Coder's form. Values are text, or JSON where the schema says so. */
function readQwenFunction(text: string, start: number, tools: readonly ToolDefinition[]): SignReading {
  const name = readName(text, start + functionTag.length)
  if (name === undefined) return isCutName(text, start) ? { fault: 'the text ends within a tag' } : undefined
  const properties = tools.find((tool) => tool.name === name.text)?.parameters['properties']
  const args: [string, unknown][] = []
  let at = textFrom(text, name.end)
  while (text.startsWith('<parameter=', at)) {
    const key = readName(text, at + '<parameter='.length)
    if (key === undefined) return { fault: 'a parameter has no name' }
    afterValue.lastIndex = key.end
    const close = afterValue.exec(text)
    if (close === null) return { fault: `the value of ${key.text} does not end` }
    // The template puts each value on lines of its own.
    const value = text.slice(key.end, close.index).replace(/^\n|\n$/g, '')
    args.push([key.text, converted(value, isRecord(properties) ? properties[key.text] : undefined)])
    at = close.index + close[0].length
  }
  if (!text.startsWith(endTag, at)) return { fault: `a call does not end with ${endTag}` }
  const written = argumentsText(Object.fromEntries(args))
  if (written === undefined) return { fault: 'arguments are nested too deeply' }
  return { calls: [{ name: name.text, arguments: written }], end: at + endTag.length }
}

function isCutName(text: string, start: number): boolean {
  return /^[^\s<>]{0,256}$/.test(text.slice(start + functionTag.length, start + functionTag.length + 300))
}

function readName(text: string, from: number): { text: string; end: number } | undefined {
  const name = /[^\s<>]{1,256}(?=>)/y
  name.lastIndex = from
  const match = name.exec(text)?.[0]
  return match === undefined ? undefined : { text: match, end: from + match.length + 1 }
}

function converted(value: string, schema: unknown): unknown {
  if (takesText(schema)) return value
  const plain = value.trim()
  // The template writes values as Python does.
  const parsed = parseJson(/^(?:True|False)$/.test(plain) ? plain.toLowerCase() : plain === 'None' ? 'null' : plain)
  return parsed === undefined ? value : parsed
}

function takesText(schema: unknown): boolean {
  if (!isRecord(schema)) return true
  const { type, anyOf, oneOf } = schema
  const options = anyOf ?? oneOf
  if (type === undefined) return Array.isArray(options) ? options.some(takesText) : true
  return Array.isArray(type) ? type.includes('string') : type === 'string'
}
