import { isRecord } from '#domain/json.ts'
import { readWrittenJson } from '#domain/written-json.ts'
import { endOfJson, type SignReading, textFrom, writtenCall, type WrittenCall } from './content-reading.ts'

/** A text that is meant as a call begins so; other JSON is an answer. Groups are bounded, as each round uses the stack. */
const beginnings = [
  /^\[?\s*\{\s*"(?:type"\s*:\s*"function"\s*,\s*")?name"\s*:\s*"(?:[^"\\]|\\.){0,256}"\s*,\s*"(?:arguments|parameters)"\s*:/,
  /^\[?\s*\{\s*"(?:arguments|parameters)"\s*:\s*[{"]/,
  /^\[?\s*\{\s*(?:"(?:id|type)"\s*:\s*"[^"]*"\s*,\s*){0,4}"function"\s*:\s*\{/,
  /^\{\s*"tool_calls"\s*:\s*\[/,
]

/** Reads a text that is only JSON as one call, a list, or `{"tool_calls": […]}`; other JSON only when `marked`. */
export function readJsonCalls(
  text: string,
  { marked = false } = {},
): { calls: WrittenCall[] } | { fault: string } | undefined {
  const read = readWrittenJson(text)
  if ('fault' in read)
    return marked || isBegun(text) ? { fault: `the call is no whole JSON: ${read.fault}` } : undefined
  const { value } = read
  const listed = isRecord(value) && Array.isArray(value['tool_calls']) ? value['tool_calls'] : undefined
  const calls = callsIn(listed ?? value, { marked: marked || listed !== undefined })
  if (calls === undefined && (marked || beginsWithCall(value)))
    return { fault: 'the JSON of a call lacks a name or arguments' }
  return calls === undefined || calls.length === 0 ? undefined : { calls }
}

/** Reads the calls in JSON values from `start` on, which may be separated by semicolons. */
export function readJsonSequence(text: string, start: number): SignReading {
  const calls: WrittenCall[] = []
  let end = start
  for (let at = start; text[at] === '{' || text[at] === '['; at = textFrom(text, end, ';')) {
    const valueEnd = endOfJson(text, at)
    const reading = readJsonCalls(text.slice(at, valueEnd))
    if (reading === undefined) break
    if ('fault' in reading) return reading
    for (const call of reading.calls) calls.push(call)
    end = valueEnd ?? text.length
  }
  return calls.length === 0 ? undefined : { calls, end }
}

function isBegun(text: string): boolean {
  return beginnings.some((beginning) => beginning.test(text))
}

function callsIn(value: unknown, how: { marked: boolean }): WrittenCall[] | undefined {
  const calls: WrittenCall[] = []
  for (const entry of Array.isArray(value) ? value : [value]) {
    const call = writtenCall(entry, how)
    if (call === undefined) return undefined
    calls.push(call)
  }
  return calls
}

function beginsWithCall(value: unknown): boolean {
  if (isRecord(value)) return Array.isArray(value['tool_calls'])
  return Array.isArray(value) && writtenCall(value[0], { marked: false }) !== undefined
}

const mark = '[TOOL_CALLS]'
const nameOfCall = /(?:([^\s[\]{};,]{1,256})(?:\[ARGS\])?)?(?=[{[])/y

/** Reads the calls after Llama 3's or Mistral's mark, from `start` on: `{"name", …}`, a list of those, or `name{…}`. */
export function readMarkedCalls(text: string, start: number): SignReading {
  const calls: WrittenCall[] = []
  let at = start
  for (;;) {
    const head = readHead(text, at)
    if (head === undefined) break
    const end = endOfJson(text, head.end)
    if (end === undefined) return { fault: 'the text ends within a call' }
    const json = text.slice(head.end, end)
    const name = head.name === undefined ? undefined : JSON.stringify(head.name)
    const reading = readJsonCalls(name === undefined ? json : `{"name":${name},"arguments":${json}}`, { marked: true })
    if (reading === undefined) return { fault: 'a call is empty' }
    if ('fault' in reading) return reading
    for (const call of reading.calls) calls.push(call)
    at = end
  }
  if (calls.length > 0) return { calls, end: at }
  return text.slice(start).trim() === '' ? { fault: 'the text ends within a call' } : undefined
}

/** Reads what precedes the JSON of a call, at `end`. A second mark always begins a call: without one it is a fault. */
function readHead(text: string, from: number): { name: string | undefined; end: number } | undefined {
  const start = textFrom(text, from, ';,')
  const isMarked = text.startsWith(mark, start)
  nameOfCall.lastIndex = isMarked ? textFrom(text, start + mark.length) : start
  const name = nameOfCall.exec(text)
  if (name === null) return isMarked ? { name: undefined, end: start } : undefined
  return { name: name[1], end: nameOfCall.lastIndex }
}
