import { isRecord } from '#domain/json.ts'

/** A call as it stands in a reply's content, before it has an id. `arguments` is JSON text, or what was written as such. */
export type WrittenCall = { name: string; arguments: string }

/**
 * What begins at a sign: calls up to `end`, or with a `fault` one that is not whole. Undefined when the sign is only
 * mentioned.
 */
export type SignReading = { calls: WrittenCall[]; end: number } | { fault: string } | undefined

/**
 * The call that a JSON value is: `{"name", "arguments" | "parameters"}`, or that in a `function` as the API has it.
 * `marked` as a call by what is around it, it may do without arguments.
 */
export function writtenCall(value: unknown, { marked }: { marked: boolean }): WrittenCall | undefined {
  if (!isRecord(value)) return undefined
  const call = isRecord(value['function']) ? value['function'] : value
  const { name, arguments: args = call['parameters'] } = call
  if (typeof name !== 'string' || name === '') return undefined
  const text = args === undefined || args === null ? (marked ? '{}' : undefined) : argumentsText(args)
  return text === undefined ? undefined : { name, arguments: text }
}

/** Undefined for what can be no arguments. Text is passed on as it is: whether it is JSON is judged with the tool. */
export function argumentsText(args: unknown): string | undefined {
  if (typeof args === 'string') return args
  if (!isRecord(args)) return undefined
  try {
    return JSON.stringify(args)
  } catch {
    return undefined // nested deeper than the stack; JSON.parse has no such limit
  }
}
