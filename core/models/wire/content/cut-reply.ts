import type { ToolDefinition } from '#domain/turn.ts'
import type { SignReading, WrittenCall } from './content-reading.ts'
import { endOfJson } from './end-of-json.ts'
import { findCode } from './find-code.ts'
import { readGemmaCall } from './read-gemma-call.ts'
import { readJsonSequence } from './read-json-calls.ts'
import { readMarkedCalls } from './read-marked-calls.ts'
import { readBareFunction, readTaggedCall } from './read-tagged-call.ts'
import { beginsLine } from './text-position.ts'

/** A stretch of what a model said, its thoughts left out. Code is prose, but for a fence that holds calls or a broken one. */
export type ReplyPart = { text: string } & (
  | { kind: 'prose' }
  | { kind: 'calls'; calls: WrittenCall[]; isFenced: boolean }
  | { kind: 'broken'; fault: string; isFenced: boolean }
)

/** What begins at a sign. With `isOpen` it lacks its end, which may be so since it was only a thought. */
type Found =
  | { kind: 'prose'; end: number; isOpen: boolean }
  | { kind: 'thought'; end: number; hasBeginning: boolean }
  | { kind: 'calls'; end: number; calls: WrittenCall[]; isFenced: boolean }
  | { kind: 'broken'; end: number; fault: string; isFenced: boolean; isOpen: boolean }

type Place = { text: string; at: number; from: number; tools: readonly ToolDefinition[] }

const endOfThought = '</think>'
const anySign =
  /<\/?think>|<tool_call>|<function=|<start_function_call>|<\|python_tag\|>|\[TOOL_CALLS\]|`+|~{3,}|[{[](?=\s*["{[\d])/g
/** The fences in which calls are looked for. */
const callFences = new Set(['', 'json', 'tool_call', 'tool_calls', 'tool_code'])

/**
 * Cuts a reply into its parts, once and from left to right: what stands in a call, in code or in the strings of JSON is
 * never looked at again. Where a thought has no beginning (templates write it themselves), all before its end is thought.
 * Nothing behind a broken call is read, unless that was a thought.
 */
export function cutReply(text: string, tools: readonly ToolDefinition[]): ReplyPart[] {
  const signs = new RegExp(anySign)
  const lastThoughtEnd = endOfLastThought(text)
  let parts: ReplyPart[] = []
  let from = 0
  for (let sign = signs.exec(text); sign !== null; sign = signs.exec(text)) {
    const at = sign.index
    const read = readSign(sign[0], { text, at, from, tools })
    const wasThought = read !== undefined && 'isOpen' in read && read.isOpen && lastThoughtEnd > at
    const found: Found | undefined = wasThought ? { kind: 'thought', end: lastThoughtEnd, hasBeginning: false } : read
    if (found === undefined) continue // only mentioned
    signs.lastIndex = found.end
    if (found.kind === 'prose') continue
    if (found.kind === 'thought' && !found.hasBeginning) parts = []
    else parts.push({ kind: 'prose', text: text.slice(from, at) })
    from = found.end
    if (found.kind !== 'thought') parts.push({ ...found, text: text.slice(at, found.end) })
  }
  return [...parts, { kind: 'prose', text: text.slice(from) }]
}

/** Of those at the beginning of a line: no string of JSON can hold such a one. */
function endOfLastThought(text: string): number {
  let at = text.lastIndexOf(endOfThought)
  while (at > 0 && !beginsLine(text, at)) at = text.lastIndexOf(endOfThought, at - 1)
  return at === -1 ? -1 : at + endOfThought.length
}

function readSign(sign: string, place: Place): Found | undefined {
  const { text, at, tools } = place
  const start = at + sign.length
  switch (sign) {
    case '<think>':
      return readThought(text, start)
    case endOfThought:
      return { kind: 'thought', end: start, hasBeginning: false }
    case '<tool_call>':
      return asFound(readTaggedCall(text, start, tools), text, { isOpen: !/^\s*<function=/.test(text.slice(start)) })
    case '<function=':
      return asFound(readBareFunction(text, at, tools), text, { isOpen: false })
    case '<start_function_call>':
      return asFound(readGemmaCall(text, start), text, { isOpen: false })
    case '<|python_tag|>':
    case '[TOOL_CALLS]':
      return asFound(readMarkedCalls(text, start), text, { isOpen: true })
    default:
      return sign === '{' || sign === '[' ? readJson(place) : readCode(text, at, sign)
  }
}

/** A thought without an end is what a reply ends with. */
function readThought(text: string, start: number): Found {
  const end = text.indexOf(endOfThought, start)
  if (end === -1) return { kind: 'prose', end: text.length, isOpen: false }
  return { kind: 'thought', end: end + endOfThought.length, hasBeginning: true }
}

function asFound(reading: SignReading, text: string, { isOpen }: { isOpen: boolean }): Found | undefined {
  if (reading === undefined) return undefined
  if ('fault' in reading) return { kind: 'broken', fault: reading.fault, end: text.length, isFenced: false, isOpen }
  return { kind: 'calls', ...reading, isFenced: false }
}

/** JSON is calls where it begins a line. Other JSON, and what looks like it, is text as a whole. */
function readJson({ text, at, from }: Place): Found {
  const reading = beginsLine(text, at, from) ? readJsonSequence(text, at) : undefined
  const found = asFound(reading, text, { isOpen: true })
  if (found !== undefined) return found
  const end = endOfJson(text, at)
  return { kind: 'prose', end: end ?? text.length, isOpen: end === undefined }
}

function readCode(text: string, at: number, sign: string): Found | undefined {
  const code = findCode(text, at, sign)
  if (code === undefined) return undefined
  const { end, isOpen, fence } = code
  if (fence === undefined || !callFences.has(fence.info.trim())) return { kind: 'prose', end, isOpen }
  const body = fence.body.trim()
  const reading = readJsonSequence(body, 0)
  if (reading === undefined) return { kind: 'prose', end, isOpen }
  const broken = { kind: 'broken', end, isFenced: true, isOpen } as const
  if ('fault' in reading) return { ...broken, fault: reading.fault }
  if (isOpen) return { ...broken, fault: 'the fence around the call is not closed' }
  return reading.end < body.length
    ? { kind: 'prose', end, isOpen }
    : { kind: 'calls', calls: reading.calls, end, isFenced: true }
}
