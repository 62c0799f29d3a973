import { fc } from '#testing/fast-check.ts'
import { isRecord } from '#domain/json.ts'
import type { ToolDefinition } from '#domain/turn.ts'
import { parseContent } from './parse-content.ts'

export type Call = { name: string; args: Record<string, unknown> }
/** A content with text around its calls; `ends` is where each call is whole. */
export type Written = { text: string; ends: number[] }
export type Format = {
  write(calls: readonly Call[]): Written
  /** What no string of this format's values can hold, since it has no escape for it. */
  without?: RegExp
  most: number
}

const properties = {
  text: { type: 'string' },
  count: { type: 'number' },
  flag: { type: 'boolean' },
  list: { type: 'array' },
}
export const tools: ToolDefinition[] = ['read_file', 'write', 'quoted'].map((name) => ({
  name,
  description: '',
  parameters: { type: 'object', properties: { ...properties, deep: { type: 'object' } } },
}))

/** Calls side by side, each in its frame, with words before, between and after them. */
function framed(calls: readonly Call[], write: (call: Call) => string, words = 'First I read.\n'): Written {
  const ends: number[] = []
  let text = words
  for (const call of calls) {
    text += write(call)
    ends.push(text.length)
    text += '\n'
  }
  return { text, ends }
}

const json = ({ name, args }: Call) => JSON.stringify({ name, arguments: args })

function gemmaValue(value: unknown): string {
  if (typeof value === 'string') return `<escape>${value}<escape>`
  if (Array.isArray(value)) return `[${value.map(gemmaValue).join(',')}]`
  if (isRecord(value))
    return `{${Object.entries(value)
      .map(([key, item]) => `${key}:${gemmaValue(item)}`)
      .join(',')}}`
  return JSON.stringify(value)
}

const qwenValue = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
const qwenFunction = ({ name, args }: Call) => {
  const parameters = Object.entries(args).map(
    ([key, value]) => `<parameter=${key}>\n${qwenValue(value)}\n</parameter>\n`,
  )
  return `<function=${name}>\n${parameters.join('')}</function>`
}

function whole(text: string): Written {
  return { text, ends: [text.length] }
}
const one = (calls: readonly Call[]) => calls.slice(0, 1).map(json).join('')

export const formats: Record<string, Format> = {
  'bare JSON': { write: (calls) => whole(one(calls)), most: 1 },
  'arguments as text': {
    write: ([call]) => whole(JSON.stringify({ name: call?.name, parameters: JSON.stringify(call?.args) })),
    most: 1,
  },
  'a fence': { write: (calls) => whole(`\`\`\`json\n${one(calls)}\n\`\`\``), most: 1 },
  tool_calls: { write: (calls) => whole(`{"tool_calls": [${calls.map(json).join(', ')}]}`), most: 3 },
  'a list': { write: (calls) => whole(`[${calls.map(json).join(',\n')}]`), most: 3 },
  Hermes: { write: (calls) => framed(calls, (call) => `<tool_call>\n${json(call)}\n</tool_call>`), most: 3 },
  FunctionGemma: {
    write: (calls) =>
      framed(calls, ({ name, args }) => `<start_function_call>call:${name}${gemmaValue(args)}<end_function_call>`),
    without: /<escape>/,
    most: 3,
  },
  'Qwen3-Coder': {
    write: (calls) => framed(calls, (call) => `<tool_call>\n${qwenFunction(call)}\n</tool_call>`),
    without: /<\/(?:parameter|function)>|\r/,
    most: 3,
  },
  'Qwen3-Coder without tags': { write: (calls) => framed(calls, qwenFunction), without: /<\//, most: 3 },
  'Llama 3': { write: ([call]) => whole(`<|python_tag|>${call === undefined ? '' : json(call)}`), most: 1 },
  Mistral: { write: (calls) => whole(`[TOOL_CALLS][${calls.map(json).join(', ')}]`), most: 3 },
}

export const nasty = [
  '</tool_call>', '<tool_call>', '"', '\\', '\\"', '}', '{', ']', '},{"name":"write","arguments":{}}', '```', '\n```\n',
  '<end_function_call>', '<start_function_call>call:write{}', '</think>', '<think>', ',', ':', '\n', '\u2028', '\u0000',
  'é', '日本', '👩‍👩‍👧', '<|python_tag|>', '[TOOL_CALLS]', '<function=write>', ' ', 'null', '1', 'true',
] // prettier-ignore
const anyText = fc.array(fc.oneof(fc.constantFrom(...nasty), fc.string({ unit: 'grapheme', maxLength: 6 })), {
  maxLength: 5,
})
export const callsOf = ({ without, most }: Format, names = ['read_file', 'write']): fc.Arbitrary<Call[]> => {
  const text = anyText.map((pieces) => pieces.join('')).filter((value) => without?.test(value) !== true)
  const scalar = fc.oneof(
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
    fc.boolean(),
    fc.constant(null),
  )
  const list = fc.array(scalar, { maxLength: 3 })
  const key = fc.stringMatching(/^[a-z_][a-z0-9_]{0,5}$/)
  const deep = fc.dictionary(key, fc.oneof(scalar, list), { maxKeys: 2, noNullPrototype: true })
  const args = fc.record(
    { text, count: fc.integer(), flag: fc.boolean(), list: fc.oneof(list, fc.array(list, { maxLength: 2 })), deep },
    { requiredKeys: [], noNullPrototype: true },
  )
  const call = fc.record({ name: fc.constantFrom(...names), args }, { noNullPrototype: true })
  return fc.array(call, { minLength: 1, maxLength: most })
}

export const normal = (calls: readonly Call[]) =>
  calls.map(({ name, args }) => ({ name, args: JSON.parse(JSON.stringify(args)) }))
export const parsed = (text: string) => {
  const { calls, fault } = parseContent(text, tools)
  return { calls: calls.map(({ name, arguments: args }) => ({ name, args: JSON.parse(args) })), fault }
}
