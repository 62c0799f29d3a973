import type { SignReading, WrittenCall } from './content-reading.ts'
import { endOfJson } from './end-of-json.ts'
import { readJsonCalls } from './read-json-calls.ts'
import { textFrom } from './text-position.ts'

const mark = '[TOOL_CALLS]'
/** Mistral's name before a call's arguments. */
const nameOfCall = /(?:([^\s[\]{};,]{1,256})(?:\[ARGS\])?)?(?=[{[])/y

/**
 * Calls behind what Llama 3 and Mistral put before them, from `start` on: `{"name", …}`, a list of those, or `name{…}`
 * with the arguments alone.
 */
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

/**
 * What stands before the JSON of a call, which is at `end`. A second mark is meant: where no call follows, it is read as one
 * itself, and is no whole JSON.
 */
function readHead(text: string, from: number): { name: string | undefined; end: number } | undefined {
  const start = textFrom(text, from, ';,')
  const isMarked = text.startsWith(mark, start)
  nameOfCall.lastIndex = isMarked ? textFrom(text, start + mark.length) : start
  const name = nameOfCall.exec(text)
  if (name === null) return isMarked ? { name: undefined, end: start } : undefined
  return { name: name[1], end: nameOfCall.lastIndex }
}
