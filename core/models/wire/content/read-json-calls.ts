import { isRecord, parseJson } from '#domain/json.ts'
import { writtenCall, type SignReading, type WrittenCall } from './content-reading.ts'
import { endOfJson } from './end-of-json.ts'
import { textFrom } from './text-position.ts'

/**
 * How a text begins that is meant as a call; other JSON is an answer in words. Groups are bounded: each round of one stays on
 * the stack.
 */
const beginnings = [
  /^\[?\s*\{\s*"(?:type"\s*:\s*"function"\s*,\s*")?name"\s*:\s*"(?:[^"\\]|\\.){0,256}"\s*,\s*"(?:arguments|parameters)"\s*:/,
  /^\[?\s*\{\s*"(?:arguments|parameters)"\s*:\s*[{"]/,
  /^\[?\s*\{\s*(?:"(?:id|type)"\s*:\s*"[^"]*"\s*,\s*){0,4}"function"\s*:\s*\{/,
  /^\{\s*"tool_calls"\s*:\s*\[/,
]

/**
 * A text that is JSON and nothing else: one call, a list of calls, or `{"tool_calls": […]}`. Other JSON is none, unless
 * the text is `marked` as calls.
 */
export function readJsonCalls(
  text: string,
  { marked = false } = {},
): { calls: WrittenCall[] } | { fault: string } | undefined {
  const value = parseJson(text)
  if (value === undefined) return marked || isBegun(text) ? { fault: 'the call is no whole JSON' } : undefined
  const listed = isRecord(value) && Array.isArray(value['tool_calls']) ? value['tool_calls'] : undefined
  const calls = callsIn(listed ?? value, { marked: marked || listed !== undefined })
  if (calls === undefined && (marked || beginsWithCall(value)))
    return { fault: 'the JSON of a call lacks a name or arguments' }
  return calls === undefined || calls.length === 0 ? undefined : { calls }
}

/** The calls in JSON from `start` on, one value behind the other, which may be set apart by semicolons. */
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

/** Whether a list that is none of calls has one at its head, or is said to be of calls. */
function beginsWithCall(value: unknown): boolean {
  if (isRecord(value)) return Array.isArray(value['tool_calls'])
  return Array.isArray(value) && writtenCall(value[0], { marked: false }) !== undefined
}
