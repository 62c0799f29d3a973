import { parseJson } from './json.ts'

/** `fault` gives the line, the column and the reason why the text is no JSON, for the model that wrote it. */
export type WrittenJson = { value: unknown } | { fault: string }

/** Reads JSON as models write it, also with control characters inside strings, a comma behind the last part, and a fence around it. */
export function readWrittenJson(text: string): WrittenJson {
  const value = parseJson(text)
  if (value !== undefined) return { value }
  const start = openingFence.exec(text)?.[0].length ?? 0
  const read = readValue(text, start, 1)
  if ('fault' in read) return { fault: `${placeOf(text, read.at)}: ${read.fault}` }
  const rest = afterSpace(text, read.end)
  const isOpen = start > 0 && !text.startsWith(fence, rest)
  const end = start > 0 && !isOpen ? afterSpace(text, rest + fence.length) : rest
  if (end === text.length && !isOpen) return { value: read.value }
  return { fault: `${placeOf(text, rest)}: ${isOpen ? 'the fence is not closed' : 'there is text behind the JSON'}` }
}

const fence = '```'
const openingFence = /^\s*```\w*\s*\n/
/** Is deeper than any tool's arguments, and less than overflows the stack. */
const maxDepth = 100
const shownCharacters = 30

type Part<Value> = { value: Value; end: number } | { at: number; fault: string }

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const near = text.slice(at, at + shownCharacters)
  const shown = near === '' ? 'at the end' : `at ${JSON.stringify(near)}`
  return `line ${line}, column ${at - before.lastIndexOf('\n')}, ${shown}`
}

function afterSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && /\s/.test(text.charAt(at))) at += 1
  return at
}

/** Repeats are `xx*`, not `x+`: code that V8 no longer optimizes counts the rounds of `x+` on a stack, which a reply of 6 MB overflows. */
const plainValue = /-?(?:0|[1-9]\d*)(?:\.\d\d*)?(?:[eE][-+]?\d\d*)?(?![\w.])|(?:true|false|null)\b/y

function readValue(text: string, from: number, depth: number): Part<unknown> {
  const at = afterSpace(text, from)
  const first = text[at]
  if (first === '"') return readString(text, at)
  if (first === '{' || first === '[') {
    if (depth > maxDepth) return { at, fault: `it is nested deeper than ${maxDepth} levels` }
    return first === '[' ? readList(text, at, depth) : readObject(text, at, depth)
  }
  plainValue.lastIndex = at
  const word = plainValue.exec(text)?.[0]
  if (word !== undefined) return { value: parseJson(word), end: at + word.length }
  return { at, fault: first === undefined ? 'a value is missing' : 'this is no value of JSON' }
}

const stringPart = /[^"\\][^"\\]*|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

function readString(text: string, start: number): Part<string> {
  let at = start + 1
  while (text[at] !== '"') {
    stringPart.lastIndex = at
    const part = stringPart.exec(text)?.[0]
    if (part === undefined) {
      if (at >= text.length) return { at: start, fault: 'this string does not end' }
      return { at, fault: 'this is no escape of JSON: a backslash itself is written as two' }
    }
    at += part.length
  }
  const plain = text.slice(start, at + 1).replaceAll(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1))
  return { value: String(parseJson(plain)), end: at + 1 }
}

function readList(text: string, start: number, depth: number): Part<unknown[]> {
  const items: unknown[] = []
  const end = readParts(text, start, ']', (at) => {
    const item = readValue(text, at, depth + 1)
    if ('value' in item) items.push(item.value)
    return item
  })
  return 'fault' in end ? end : { value: items, end: end.end }
}

function readObject(text: string, start: number, depth: number): Part<Record<string, unknown>> {
  const members: [string, unknown][] = []
  const end = readParts(text, start, '}', (at) => {
    if (text[at] !== '"') return { at, fault: 'the name of a member in double quotes is missing' }
    const name = readString(text, at)
    if ('fault' in name) return name
    const colon = afterSpace(text, name.end)
    if (text[colon] !== ':') return { at: colon, fault: 'a colon is missing' }
    const member = readValue(text, colon + 1, depth + 1)
    if ('value' in member) members.push([name.value, member.value])
    return member
  })
  return 'fault' in end ? end : { value: Object.fromEntries(members), end: end.end }
}

/** Reads the parts of a list or an object that begins at `start`; `end` is behind its closing bracket. */
function readParts(
  text: string,
  start: number,
  closing: string,
  readPart: (at: number) => Part<unknown>,
): { end: number } | { at: number; fault: string } {
  let at = afterSpace(text, start + 1)
  while (text[at] !== closing) {
    const part = readPart(at)
    if ('fault' in part) return part
    at = afterSpace(text, part.end)
    if (text[at] === closing) break
    if (text[at] !== ',') return { at, fault: `a comma or ${closing} is missing` }
    at = afterSpace(text, at + 1)
  }
  return { end: at + 1 }
}
