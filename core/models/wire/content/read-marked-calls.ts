import type { ContentReading, WrittenCall } from './content-reading.ts'
import { endOfJson } from './end-of-json.ts'
import { readJsonCalls } from './read-json-calls.ts'

/** What Llama 3 and Mistral put before the JSON of their calls. */
export const callMarker = /^(?:<\|python_tag\|>|\[TOOL_CALLS\])/
/** Between calls, and Mistral's name before a call's arguments. */
const beforeCall = /[\s;,]*(?:\[TOOL_CALLS\])?\s*(?:([^\s[\]{};,]{1,256})(?:\[ARGS\])?)?(?=[{[])/y

/** Calls behind `callMarker`: `{"name", …}`, a list of those, or `name{…}` with the arguments alone. */
export function readMarkedCalls(text: string): ContentReading | undefined {
  const marker = callMarker.exec(text)?.[0]
  if (marker === undefined) return undefined
  const calls: WrittenCall[] = []
  let at = marker.length
  while (at < text.length) {
    beforeCall.lastIndex = at
    const head = beforeCall.exec(text)
    const end = head === null ? undefined : endOfJson(text, beforeCall.lastIndex)
    if (head === null || end === undefined) return { fault: 'the text ends within a call' }
    const json = text.slice(beforeCall.lastIndex, end)
    const name = head[1] === undefined ? undefined : JSON.stringify(head[1])
    const reading = readJsonCalls(name === undefined ? json : `{"name":${name},"arguments":${json}}`, { marked: true })
    if (reading === undefined) return { fault: 'a call is empty' }
    if (reading.fault !== undefined) return reading
    calls.push(...reading.calls)
    at = end
  }
  return calls.length === 0 ? { fault: 'the text ends within a call' } : { calls, rest: '' }
}
