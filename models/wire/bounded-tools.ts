import { isRecord } from '#domain/json.ts'
import type { JsonSchema, ToolDefinition } from '#domain/turn.ts'
import type { Capabilities } from './capabilities.ts'

/** A longer text goes without a bound. llama.cpp refuses a grammar with 2,000 repetitions. */
export const longestText = { long: 8192, short: 1024 } as const
/** A text of less room is of no use, even where the reply may then be cut. */
const leastText = 16
const leastItemText = 64
const mostItems = 64
/** Characters per token, at least: Gemma 3 needed 2.4 in a path that it repeated, 1.4 in names and signs. */
const perToken = { text: 2.4, signs: 1.4 } as const
const textPerSign = perToken.text / perToken.signs
/** Every JSON parser reads fifteen digits exactly, and a whole number may have no maximum otherwise. */
const mostDigits = 15
export const mostNumber = 10 ** mostDigits - 1

export type Bounds = Pick<Capabilities, 'lengths'> & {
  maxTokens: number
  /** Leaves out optional arguments of any form, which no keyword can bound. */
  isClosed: boolean
}

export type BoundTools = {
  tools: readonly ToolDefinition[]
  /** A text has no longest length, since the server does not take one, or none so long. */
  isOpen: boolean
}

type Made = { longest: number; isClosed: boolean; isOpen: boolean }

/**
 * Returns the tools with schemas that hold a call to `maxTokens`, for the server only: a model may go on for ever otherwise, and
 * the reply is cut before the call is closed. The texts of a call share what its names leave, in powers of two, so that few
 * schemas differ. Lower limits, patterns and formats stay.
 */
export function boundTools(tools: readonly ToolDefinition[], bounds: Bounds): BoundTools {
  const { lengths, maxTokens, isClosed } = bounds
  if (lengths === 'none') return { tools, isOpen: true }
  const made: Made = { longest: longestText[lengths], isClosed, isOpen: false }
  const room = maxTokens * perToken.text
  const bounded = tools.map((tool) => {
    const frame = JSON.stringify({ name: tool.name, arguments: {} }).length
    const free = room - textPerSign * (frame + fixedCharacters(tool.parameters))
    return { ...tool, parameters: boundObject(tool.parameters, free, made) }
  })
  return { tools: bounded, isOpen: made.isOpen && lengths === 'short' }
}

function boundValue(schema: unknown, free: number, made: Made): unknown {
  if (!isRecord(schema) || isChosen(schema)) return schema
  const types = [schema['type']].flat()
  let value: JsonSchema = schema
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const forms = value[keyword]
    if (Array.isArray(forms)) value = { ...value, [keyword]: forms.map((form) => boundValue(form, free, made)) }
  }
  if (types.includes('string')) value = boundText(value, free, made)
  if (types.includes('integer') || types.includes('number')) value = boundNumber(value)
  if (types.includes('array')) value = boundList(value, free, made)
  return types.includes('object') ? boundObject(value, free, made) : value
}

function boundText(schema: JsonSchema, free: number, made: Made): JsonSchema {
  if (schema['pattern'] !== undefined || schema['format'] !== undefined) return schema
  const share = powerOfTwo(Math.max(free, leastText))
  const own = numberOf(schema['maxLength'], Infinity)
  const most = Math.max(numberOf(schema['minLength'], 0), Math.min(own, share))
  if (most <= made.longest) return { ...schema, maxLength: most }
  made.isOpen = true
  return schema
}

function boundNumber(schema: JsonSchema): JsonSchema {
  const least = schema['exclusiveMinimum'] === undefined ? { minimum: -mostNumber } : {}
  const most = schema['exclusiveMaximum'] === undefined ? { maximum: mostNumber } : {}
  return { ...least, ...most, ...schema }
}

function boundList(schema: JsonSchema, free: number, made: Made): JsonSchema {
  const { items } = schema
  if (items === undefined) return schema
  const each = textPerSign * (fixedCharacters(items) + ', '.length)
  const fitting = powerOfTwo(Math.max(1, free / (each + textsIn(items) * leastItemText)))
  const most = Math.min(fitting, mostItems, numberOf(schema['maxItems'], Infinity))
  const maxItems = Math.max(most, numberOf(schema['minItems'], 0))
  return { ...schema, items: boundValue(items, free / Math.max(1, maxItems) - each, made), maxItems }
}

function boundObject(schema: JsonSchema, free: number, made: Made): JsonSchema {
  const { properties, required } = schema
  if (!isRecord(properties)) return schema
  const needed = new Set<unknown>(Array.isArray(required) ? required : [])
  const kept = Object.entries(properties).filter(([name, value]) => {
    return needed.has(name) || !made.isClosed || !isOfAnyForm(value)
  })
  const texts = kept.reduce((sum, [, value]) => sum + textsIn(value), 0)
  const bounded = kept.map(([name, value]) => {
    return [name, boundValue(value, (free * textsIn(value)) / Math.max(1, texts), made)]
  })
  return { ...schema, properties: Object.fromEntries(bounded) }
}

function isChosen(schema: Record<string, unknown>): boolean {
  return Array.isArray(schema['enum']) || schema['const'] !== undefined
}

function isOfAnyForm(schema: unknown): boolean {
  if (!isRecord(schema)) return true
  const { type, properties, items, anyOf, oneOf, allOf, $ref } = schema
  if (isChosen(schema) || [anyOf, oneOf, allOf, $ref].some((form) => form !== undefined)) return false
  if (type === 'object') return !isRecord(properties)
  return type === undefined || (type === 'array' && items === undefined)
}

/** A list counts as two texts. */
function textsIn(schema: unknown): number {
  if (!isRecord(schema) || isChosen(schema)) return 0
  const types = [schema['type']].flat()
  const own = types.includes('string') ? 1 : types.includes('array') ? 2 : 0
  const inside = types.includes('object') ? sumOf(propertiesOf(schema), ([, value]) => textsIn(value)) : 0
  return Math.max(own, inside, ...formsOf(schema).map(textsIn))
}

function fixedCharacters(schema: unknown): number {
  if (!isRecord(schema)) return 0
  const { enum: values, const: only, type } = schema
  if (Array.isArray(values)) return Math.max(0, ...values.map((value) => JSON.stringify(value).length))
  if (only !== undefined) return JSON.stringify(only).length
  const named = sumOf(propertiesOf(schema), ([name, value]) => name.length + '"": , '.length + fixedCharacters(value))
  const own = [type].flat().some((kind) => kind === 'integer' || kind === 'number')
    ? mostDigits + '-'.length
    : '""'.length
  return Math.max(own + named, ...formsOf(schema).map(fixedCharacters))
}

function formsOf({ anyOf, oneOf, allOf }: Record<string, unknown>): unknown[] {
  return [anyOf, oneOf, allOf].flatMap((forms) => (Array.isArray(forms) ? forms : []))
}

function propertiesOf({ properties }: Record<string, unknown>): [string, unknown][] {
  return isRecord(properties) ? Object.entries(properties) : []
}

function sumOf<One>(all: readonly One[], count: (item: One) => number): number {
  return all.reduce((sum, item) => sum + count(item), 0)
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

function powerOfTwo(number: number): number {
  return 2 ** Math.floor(Math.log2(number))
}
