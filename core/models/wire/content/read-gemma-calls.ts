import type { ContentReading, WrittenCall } from './content-reading.ts'
import { readGemmaObject } from './read-gemma-value.ts'
import { endsInside, textFrom } from './text-position.ts'

export const gemmaOpening = '<start_function_call>'
const closing = '<end_function_call>'
/** What the model writes when it waits for the result; servers stop at it, not all take it off. */
const waiting = '<start_function_response>'
const head = /call:([^\s{}<>]{1,256})(?=\{)/y

/** FunctionGemma's `<start_function_call>call:name{key:<escape>value<escape>}<end_function_call>`, any number of them. */
export function readGemmaCalls(text: string): ContentReading | undefined {
  const calls: WrittenCall[] = []
  const around: string[] = []
  let at = 0
  for (let start = text.indexOf(gemmaOpening); start !== -1; start = text.indexOf(gemmaOpening, at)) {
    head.lastIndex = start + gemmaOpening.length
    const name = head.exec(text)
    if (name === null) return { fault: 'a function call has no name' }
    const args = readGemmaObject(text, head.lastIndex)
    if ('fault' in args) return args
    const end = textFrom(text, args.end)
    if (!text.startsWith(closing, end)) return { fault: `a function call does not end with ${closing}` }
    calls.push({ name: name[1] ?? '', arguments: JSON.stringify(args.value) })
    around.push(text.slice(at, start))
    at = end + closing.length
  }
  if (calls.length === 0) return undefined
  const tail = text.slice(at)
  if (endsInside(tail, gemmaOpening)) return { fault: 'the text ends within a tag' }
  return { calls, rest: [...around, tail].join('').replace(waiting, '').trim() }
}
