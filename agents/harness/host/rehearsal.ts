import { isRecord } from '#domain/json.ts'
import type { Conversation } from '#rehearsal/conversation.ts'
import { call, type Rule } from '#rehearsal/rule.ts'

const harnessTools = new Set([
  'report_node',
  'open_file',
  'set_timeout',
  'set_sample_rate',
  'set_verbose',
  'set_log_level',
  'add_labels',
  'register_server',
  'count_lines',
  'find_symbol',
  'restart_server',
])
const vagueWords = new Set(['set', 'add', 'name'])
const tries = 2

/** Calls the tool whose name and arguments share most words with the request, with the values it names; skips if none does. */
export const harness: Rule = {
  plays: (tools) => {
    const own = [...tools.keys()].filter((name) => name !== 'submit_result')
    return own.length > 0 && own.every((name) => harnessTools.has(name))
  },
  next(conversation) {
    const { steps, tools, userText } = conversation
    const isDone = steps.some(({ failed }) => !failed) || steps.length >= tries
    const tool = isDone ? undefined : closestTool(conversation)
    return tool === undefined ? undefined : call(tool, argumentsFor(tools.get(tool), userText))
  },
  conclude({ steps }) {
    if (steps.length === 0) return { status: 'skipped', summary: 'No tool fits the request.', changedFiles: [] }
    const done = steps.find(({ failed }) => !failed)
    return done === undefined
      ? { status: 'failed', summary: 'The tool did not work.', changedFiles: [] }
      : { status: 'success', summary: `Called ${done.tool}.`, changedFiles: [] }
  },
}

function closestTool({ tools, userText }: Conversation): string | undefined {
  const words = withoutValues(userText).toLowerCase()
  const requested = new Set(words.match(/[a-z]+/g))
  const rated = [...tools]
    .filter(([name]) => name !== 'submit_result')
    .map(([name, schema]) => ({ name, shared: wordsOf(name, schema).filter((word) => requested.has(word)).length }))
    .toSorted((left, right) => right.shared - left.shared)
  const [best] = rated
  return best === undefined || best.shared === 0 ? undefined : best.name
}

function wordsOf(name: string, schema: unknown): string[] {
  const properties = isRecord(schema) && isRecord(schema['properties']) ? Object.keys(schema['properties']) : []
  const words = [name, ...properties].flatMap((identifier) => identifier.split('_'))
  return [...new Set(words)].filter((word) => !vagueWords.has(word))
}

/** The number of lines is counted in the code; all other values are named in the text. */
function argumentsFor(schema: unknown, userText: string): Record<string, unknown> {
  const code = /```[^\n]*\n(.*?)\n?```\s*$/s.exec(userText)?.[1]
  const named = readValues(schema, userText)
  return code === undefined ? named : { ...named, lines: code.split('\n').length }
}

type Words = { text: string; quoted: string[]; numbers: number[] }

const fenced = /```.*?(?:```|$)/gs
const inQuotes = /"([^"\n]*)"/g
const plainNumber = /(?<![\w."/-])\d+(?:\.\d+)?(?![\w/-])/g

function withoutValues(request: string): string {
  return request.replaceAll(fenced, '').replaceAll(inQuotes, '')
}

/** Reads arguments from `name: value` lines first, then from quotes, numbers in order, a named choice, on and off; others are left out. */
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
  const words = text.toLowerCase().match(/\w+/g) ?? []
  return words.map((word) => choices.find((choice) => choice === word)).find((choice) => choice !== undefined)
}

function onOrOff(text: string): boolean | undefined {
  const [word] = /\b(?:on|true|yes|off|false|no)\b/i.exec(text) ?? []
  return word === undefined ? undefined : /^(?:on|true|yes)$/i.test(word)
}
