import type { SignReading } from './content-reading.ts'
import { readGemmaObject } from './read-gemma-value.ts'
import { textFrom } from './text-position.ts'

const closing = '<end_function_call>'
const begun = 'call:'
const head = /call:([^\s{}<>]{1,256})(?=\{)/y

/** FunctionGemma's `call:name{key:<escape>value<escape>}<end_function_call>` that begins at `start`, behind its opening tag. */
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
  if (!text.startsWith(closing, end)) return { fault: `a function call does not end with ${closing}` }
  return { calls: [{ name: name[1] ?? '', arguments: JSON.stringify(args.value) }], end: end + closing.length }
}
