import { parseJson } from '#domain/json.ts'
import { type SignReading, textFrom } from './content-reading.ts'

const endTag = '<end_function_call>'
const begun = 'call:'
const head = /call:([^\s{}<>]{1,256})(?=\{)/y

/** Reads FunctionGemma's `call:name{key:<escape>value<escape>}<end_function_call>` at `start`, after its opening tag. */
export function readGemmaCall(text: string, start: number): SignReading {
  head.lastIndex = start
  const name = head.exec(text)
  if (name === null) {
    const isBegun = text.startsWith(begun, start) || begun.startsWith(text.slice(start, start + begun.length))
    return isBegun ? { fault: 'a function call has no name' } : undefined
  }
  const args = readGemmaObject(text, head.lastIndex)
  if ('fault' in args) return args
  const end = textFrom(text, args.end)
  if (!text.startsWith(endTag, end)) return { fault: `a function call does not end with ${endTag}` }
  return { calls: [{ name: name[1] ?? '', arguments: JSON.stringify(args.value) }], end: end + endTag.length }
}

type GemmaValue<T> = { value: T; end: number } | { fault: string }

const escape = '<escape>'
/** This is deeper than any tool's arguments, and less than overflows the stack. */
const maxDepth = 100

/** Reads `{key:value,…}` from its brace on. `end` is exclusive. */
function readGemmaObject(text: string, start: number, depth = 0): GemmaValue<Record<string, unknown>> {
  const entries: [string, unknown][] = []
  const end = readItems(text, start + 1, '}', (at) => {
    const key = /[^\s:,{}[\]<>]{1,256}(?=\s*:)/y
    key.lastIndex = at
    const name = key.exec(text)?.[0]
    if (name === undefined) return { fault: 'an argument has no name' }
    const read = readValue(text, text.indexOf(':', at + name.length) + 1, depth + 1)
    if ('value' in read) entries.push([name, read.value])
    return read
  })
  return typeof end === 'number' ? { value: Object.fromEntries(entries), end } : end
}

function readList(text: string, start: number, depth: number): GemmaValue<unknown[]> {
  const items: unknown[] = []
  const end = readItems(text, start + 1, ']', (at) => {
    const read = readValue(text, at, depth + 1)
    if ('value' in read) items.push(read.value)
    return read
  })
  return typeof end === 'number' ? { value: items, end } : end
}

function readItems(text: string, start: number, closing: string, readItem: (at: number) => GemmaValue<unknown>) {
  let at = textFrom(text, start)
  if (text[at] === closing) return at + 1
  for (;;) {
    const item = readItem(at)
    if ('fault' in item) return item
    at = textFrom(text, item.end)
    if (text[at] === closing) return at + 1
    if (text[at] !== ',') return { fault: `a function call's ${closing} is missing` }
    at = textFrom(text, at + 1)
  }
}

function readValue(text: string, from: number, depth: number): GemmaValue<unknown> {
  if (depth > maxDepth) return { fault: `arguments are nested deeper than ${maxDepth}` }
  const at = textFrom(text, from)
  if (text.startsWith(escape, at)) return readEscaped(text, at + escape.length)
  if (text[at] === '{') return readGemmaObject(text, at, depth)
  if (text[at] === '[') return readList(text, at, depth)
  return readBare(text, at)
}

function readEscaped(text: string, start: number): GemmaValue<string> {
  const end = text.indexOf(escape, start)
  return end === -1 ? { fault: 'a value does not end' } : { value: text.slice(start, end), end: end + escape.length }
}

/** Words that are no number, boolean or null are text that the model did not escape. */
function readBare(text: string, start: number): GemmaValue<unknown> {
  const word = /[^,{}[\]<>]*/y
  word.lastIndex = start
  const bare = word.exec(text)?.[0] ?? ''
  const plain = bare.trim()
  if (plain === '') return { fault: 'an argument has no value' }
  const parsed = parseJson(plain)
  return { value: parsed === undefined ? plain : parsed, end: start + bare.length }
}
