import { isRecord } from '#domain/json.ts'

/** Of a request: what is in quotes, the numbers outside of them, and all of it. Code in fences is not part of it. */
type Words = { text: string; quoted: string[]; numbers: number[] }

const fenced = /```.*?(?:```|$)/gs
const inQuotes = /"([^"\n]*)"/g
const plainNumber = /(?<![\w."/-])\d+(?:\.\d+)?(?![\w/-])/g

/** The request without its code and without what is in quotes. */
export function withoutValues(request: string): string {
  return request.replaceAll(fenced, '').replaceAll(inQuotes, '')
}

/**
 * The arguments that a request's own words give for a tool's schema, by plain rules: `name: value` lines first, then what
 * is in quotes for texts and lists, numbers as they come, the choice that is named, on and off. What no rule finds is left
 * out.
 */
export function readValues(schema: unknown, request: string): Record<string, unknown> {
  const text = request.replaceAll(fenced, '')
  const quoted = [...text.matchAll(inQuotes)].map(([, inner = '']) => inner)
  const numbers = [...withoutValues(request).matchAll(plainNumber)].map(([number]) => Number(number))
  return readObject(schema, { text, quoted, numbers })
}

function readObject(schema: unknown, words: Words): Record<string, unknown> {
  const properties = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {}
  const read = Object.entries(properties).map(([name, property]) => [name, readValue(name, property, words)] as const)
  return Object.fromEntries(read.filter(([, value]) => value !== undefined))
}

function readValue(name: string, property: unknown, words: Words): unknown {
  const { type, enum: choices } = isRecord(property) ? property : {}
  const named = new RegExp(`^\\s*${name}\\s*[:=]\\s*(.+)$`, 'im').exec(words.text)?.[1]?.trim()
  if (Array.isArray(choices)) return namedChoice(choices, named ?? words.text)
  switch (type) {
    case 'string':
      return named ?? words.quoted.shift()
    case 'integer':
    case 'number':
      return named === undefined ? words.numbers.shift() : Number(named)
    case 'boolean':
      return onOrOff(named ?? words.text)
    case 'array':
      return named === undefined ? words.quoted.splice(0) : named.split(',').map((item) => item.trim())
    case 'object':
      return readObject(property, words)
    default:
      return undefined
  }
}

function namedChoice(choices: readonly unknown[], text: string): unknown {
  const said = text.toLowerCase().match(/\w+/g) ?? []
  return said.map((word) => choices.find((choice) => choice === word)).find((choice) => choice !== undefined)
}

function onOrOff(text: string): boolean | undefined {
  const [word] = /\b(?:on|true|yes|off|false|no)\b/i.exec(text) ?? []
  return word === undefined ? undefined : /^(?:on|true|yes)$/i.test(word)
}
