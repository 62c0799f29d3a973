import type { ToolDefinition } from '#domain/turn.ts'
import { beginsLine, endOfJson, type SignReading, type WrittenCall } from './content-reading.ts'
import { readGemmaCall } from './read-gemma-call.ts'
import { readJsonSequence, readMarkedCalls } from './read-json-calls.ts'
import { readBareFunction, readTaggedCall } from './read-tagged-call.ts'

/** This part of a reply has none of the model's thoughts. Code is prose, except a fence that holds calls or a broken call. */
export type ReplyPart = { text: string } & (
  | { kind: 'prose' }
  | { kind: 'calls'; calls: WrittenCall[]; isFenced: boolean }
  | { kind: 'broken'; fault: string; isFenced: boolean }
)

/** Says what a sign begins. With `isOpen` it has no end, which may be because it was only a thought. */
type Found =
  | { kind: 'prose'; end: number; isOpen: boolean }
  | { kind: 'thought'; end: number; hasBeginning: boolean }
  | { kind: 'calls'; end: number; calls: WrittenCall[]; isFenced: boolean }
  | { kind: 'broken'; end: number; fault: string; isFenced: boolean; isOpen: boolean }

type SignAt = { text: string; at: number; from: number; tools: readonly ToolDefinition[] }

const endOfThought = '</think>'
/** It repeats without a least number (`xx*` and not `x+`), as in `domain/written-json.ts`. */
const anySign =
  /<\/?think>|<tool_call>|<function=|<start_function_call>|<\|python_tag\|>|\[TOOL_CALLS\]|``*|~~~~*|[{[](?=\s*["{[\d])/g
const callFences = new Set(['', 'json', 'tool_call', 'tool_calls', 'tool_code'])

/**
 * Cuts a reply into its parts in one pass. Where a thought has no beginning (templates write it themselves), everything before
 * its end is thought. Nothing after a broken call is read, unless that was in a thought.
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
    const part: Found | undefined = wasThought ? { kind: 'thought', end: lastThoughtEnd, hasBeginning: false } : read
    if (part === undefined) continue // only mentioned
    signs.lastIndex = part.end
    if (part.kind === 'prose') continue
    if (part.kind === 'thought' && !part.hasBeginning) parts = []
    else parts.push({ kind: 'prose', text: text.slice(from, at) })
    from = part.end
    if (part.kind !== 'thought') parts.push({ ...part, text: text.slice(at, part.end) })
  }
  return [...parts, { kind: 'prose', text: text.slice(from) }]
}

function endOfLastThought(text: string): number {
  let at = text.lastIndexOf(endOfThought)
  while (at > 0 && !beginsLine(text, at)) at = text.lastIndexOf(endOfThought, at - 1)
  return at === -1 ? -1 : at + endOfThought.length
}

function readSign(sign: string, where: SignAt): Found | undefined {
  const { text, at, tools } = where
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
      return sign === '{' || sign === '[' ? readJson(where) : readCode(text, at, sign)
  }
}

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

/** JSON at the beginning of a line may be calls. Other JSON, and what looks like it, is prose as a whole. */
function readJson({ text, at, from }: SignAt): Found {
  const reading = beginsLine(text, at, from) ? readJsonSequence(text, at) : undefined
  const part = asFound(reading, text, { isOpen: true })
  if (part !== undefined) return part
  const end = endOfJson(text, at)
  return { kind: 'prose', end: end ?? text.length, isOpen: end === undefined }
}

function readCode(text: string, at: number, sign: string): Found | undefined {
  const code = findFence(text, at, sign) ?? (sign.startsWith('`') ? findInlineCode(text, at, sign) : undefined)
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

/** `isOpen`: its end is missing, so it extends to the end of the text or of the paragraph. */
type FoundCode = { end: number; isOpen: boolean; fence?: { info: string; body: string } }

function findFence(text: string, at: number, ticks: string): FoundCode | undefined {
  if (ticks.length < 3 || !beginsLine(text, at)) return undefined
  const firstLine = /([^`\r\n]*)\r?\n/y
  firstLine.lastIndex = at + ticks.length
  const info = firstLine.exec(text)?.[1]
  if (info === undefined) return undefined
  const start = firstLine.lastIndex
  const closings = /^[ \t]*(````*|~~~~*)[ \t]*\r?$/gm
  closings.lastIndex = start
  for (let close = closings.exec(text); close !== null; close = closings.exec(text)) {
    if (close[1]?.startsWith(ticks) !== true) continue
    return { end: closings.lastIndex, isOpen: false, fence: { info, body: text.slice(start, close.index) } }
  }
  return { end: text.length, isOpen: true, fence: { info, body: text.slice(start) } }
}

/** Unclosed inline code takes the rest of its paragraph, or of the thought: where a text was cut, it could have ended anywhere. */
function findInlineCode(text: string, at: number, ticks: string): FoundCode {
  const stops = /``*|\n[ \t]*(?:\r?\n|<\/think>)/g
  stops.lastIndex = at + ticks.length
  for (let stop = stops.exec(text); stop !== null; stop = stops.exec(text)) {
    if (stop[0] === ticks) return { end: stops.lastIndex, isOpen: false }
    const isFence = stop[0].startsWith('```') && beginsLine(text, stop.index)
    if (isFence || stop[0].startsWith('\n')) return { end: stop.index, isOpen: true }
  }
  return { end: text.length, isOpen: true }
}
