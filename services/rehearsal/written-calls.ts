import { isRecord, parseJson } from '#domain/json.ts'

/** A call as text; `args` is JSON. */
export type WrittenOut = (name: string, args: string) => string

export const jsonCall: WrittenOut = (name, args) => `{"name":${JSON.stringify(name)},"arguments":${args}}`

/** Hermes and Qwen, with words before it. */
export const hermesCall: WrittenOut = (name, args) =>
  `I call ${name}.\n<tool_call>\n${jsonCall(name, args)}\n</tool_call>`

export const gemmaCall: WrittenOut = (name, args) =>
  `<start_function_call>call:${name}${gemmaValue(parseJson(args))}<end_function_call>`

/** Qwen3-Coder. */
export const qwenCall: WrittenOut = (name, args) => {
  const given = parseJson(args)
  const parameters = Object.entries(isRecord(given) ? given : {}).map(
    ([key, value]) =>
      `<parameter=${key}>\n${typeof value === 'string' ? value : JSON.stringify(value)}\n</parameter>\n`,
  )
  return `<tool_call>\n<function=${name}>\n${parameters.join('')}</function>\n</tool_call>`
}

function gemmaValue(value: unknown): string {
  if (typeof value === 'string') return `<escape>${value}<escape>`
  if (Array.isArray(value)) return `[${value.map(gemmaValue).join(',')}]`
  if (!isRecord(value)) return JSON.stringify(value)
  const entries = Object.entries(value).map(([key, item]) => `${key}:${gemmaValue(item)}`)
  return `{${entries.join(',')}}`
}
