import type { SignReading, WrittenCall } from './content-reading.ts'
import { endOfJson } from './end-of-json.ts'
import { readJsonCalls } from './read-json-calls.ts'

/** Between calls, and Mistral's name before a call's arguments. */
const beforeCall = /[\s;,]*(?:\[TOOL_CALLS\])?\s*(?:([^\s[\]{};,]{1,256})(?:\[ARGS\])?)?(?=[{[])/y

/**
 * Calls behind what Llama 3 and Mistral put before them, from `start` on: `{"name", …}`, a list of those, or `name{…}`
 * with the arguments alone.
 */
export function readMarkedCalls(text: string, start: number): SignReading {
  const calls: WrittenCall[] = []
  let at = start
  for (;;) {
    beforeCall.lastIndex = at
    const head = beforeCall.exec(text)
    if (head === null) break
    const end = endOfJson(text, beforeCall.lastIndex)
    if (end === undefined) return { fault: 'the text ends within a call' }
    const json = text.slice(beforeCall.lastIndex, end)
    const name = head[1] === undefined ? undefined : JSON.stringify(head[1])
    const reading = readJsonCalls(name === undefined ? json : `{"name":${name},"arguments":${json}}`, { marked: true })
    if (reading === undefined) return { fault: 'a call is empty' }
    if ('fault' in reading) return reading
    calls.push(...reading.calls)
    at = end
  }
  if (calls.length > 0) return { calls, end: at }
  return text.slice(start).trim() === '' ? { fault: 'the text ends within a call' } : undefined
}
