import { isRecord } from '#domain/json.ts'

/** `arguments` is JSON text, or text that should be. */
export type WrittenCall = { name: string; arguments: string }

/** A sign such as `<tool_call>` begins calls up to `end`, a call that is not whole, or nothing, if it is only mentioned. */
export type SignReading = { calls: WrittenCall[]; end: number } | { fault: string } | undefined

/** Reads `{"name", "arguments" | "parameters"}`, or that in a `function`, as a call. A `marked` one may have no arguments. */
export function writtenCall(value: unknown, { marked }: { marked: boolean }): WrittenCall | undefined {
  if (!isRecord(value)) return undefined
  const call = isRecord(value['function']) ? value['function'] : value
  const { name, arguments: args = call['parameters'] } = call
  if (typeof name !== 'string' || name === '') return undefined
  const text = args === undefined || args === null ? (marked ? '{}' : undefined) : argumentsText(args)
  return text === undefined ? undefined : { name, arguments: text }
}

/** Returns undefined for a value that cannot be arguments. Text is passed on as it is: the tool checks whether it is JSON. */
export function argumentsText(args: unknown): string | undefined {
  if (typeof args === 'string') return args
  if (!isRecord(args)) return undefined
  try {
    return JSON.stringify(args)
  } catch {
    return undefined // nested deeper than the stack; JSON.parse has no such limit
  }
}

/** Returns the exclusive end of the JSON that begins at `start`, in one pass; undefined if it is cut. */
export function endOfJson(text: string, start: number): number | undefined {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const quote = endOfString(text, at)
      if (quote === undefined) return undefined
      at = quote
    } else if (character === '{' || character === '[') depth += 1
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1
  }
  return undefined
}

function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '"') return at
  }
  return undefined
}

/** Returns the index of the first character from `from` on that is neither white space nor in `also`; else the text's length. */
export function textFrom(text: string, from: number, also = ''): number {
  let at = from
  while (at < text.length && (/\s/.test(text.charAt(at)) || also.includes(text.charAt(at)))) at += 1
  return at
}

/** Tells whether only blanks precede `at` in its line, or since `from` when that is later. */
export function beginsLine(text: string, at: number, from = 0): boolean {
  let before = at - 1
  while (before >= from && (text[before] === ' ' || text[before] === '\t')) before -= 1
  return before < from || text[before] === '\n' || text[before] === '\r'
}
