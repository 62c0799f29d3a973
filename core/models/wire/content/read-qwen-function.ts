import { isRecord, parseJson } from '#domain/json.ts'
import type { ToolDefinition } from '#domain/turn.ts'
import { argumentsText, type WrittenCall } from './content-reading.ts'
import { textFrom } from './text-position.ts'

export const functionTag = '<function='
const endTag = '</function>'
/** What follows a value; a value may hold `</parameter>` itself. */
const afterValue = /<\/parameter>\s*(?=<parameter=|<\/function>)/g

/**
 * Qwen3-Coder's `<function=name><parameter=key>\nvalue\n</parameter></function>` that begins at `start`. Values are text;
 * what the tool's schema wants otherwise is read as JSON. Undefined when there is no name.
 */
export function readQwenFunction(
  text: string,
  start: number,
  tools: readonly ToolDefinition[],
): { calls: WrittenCall[]; end: number } | { fault: string } | undefined {
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
    const value = withoutFrame(text.slice(key.end, close.index))
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
  const found = name.exec(text)?.[0]
  return found === undefined ? undefined : { text: found, end: from + found.length + 1 }
}

/** The template puts each value on lines of its own. */
function withoutFrame(value: string): string {
  return value.replace(/^\n/, '').replace(/\n$/, '')
}

function converted(value: string, schema: unknown): unknown {
  if (takesText(schema)) return value
  const plain = value.trim()
  // The template writes what it is given as Python does.
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
