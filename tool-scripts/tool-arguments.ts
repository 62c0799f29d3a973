import { isRecord, textFault } from '#domain/json.ts'
import type { JsonSchema } from '#domain/turn.ts'

export type ValidatedArguments = { ok: true; args: Record<string, unknown> } | { ok: false; faults: string[] }

const maxFaults = 50
const articles: Readonly<Record<string, string>> = { integer: 'an integer', array: 'an array', object: 'an object' }

/**
 * Checks arguments against a tool's schema: every fault in one answer, nothing coerced, undeclared keys
 * dropped, null for an optional read as absent, defaults applied. An object schema without properties passes its
 * object through whole. Text that cannot be stored (NUL, half a surrogate pair) is a fault anywhere. The result shares unchanged parts with `args`.
 */
export function validateArguments(schema: JsonSchema, args: unknown): ValidatedArguments {
  const unkept = textFault(args)
  const faults: string[] = unkept === undefined ? [] : [`${unkept}: write the character whole, or leave it out`]
  const checked = checkValue(schema, args, '', faults)
  if (faults.length > 0) return { ok: false, faults: shortened(faults) }
  return isRecord(checked) ? { ok: true, args: checked } : { ok: false, faults: [expected('', ['object'], args)] }
}

/** Says where one value, called `name` in the messages, does not fit the schema. Checks as `validateArguments` does. */
export function valueFaults(schema: JsonSchema, value: unknown, name: string): string[] {
  const faults: string[] = []
  checkValue(schema, value, name, faults)
  return shortened(faults)
}

function shortened(faults: string[]): string[] {
  if (faults.length <= maxFaults) return faults
  return [...faults.slice(0, maxFaults), `… and ${faults.length - maxFaults} more`]
}

function checkValue(schema: JsonSchema, value: unknown, path: string, faults: string[]): unknown {
  const alternatives = schema['anyOf']
  if (Array.isArray(alternatives)) return checkAlternatives(alternatives.filter(isRecord), value, path, faults)
  const types = typesOf(schema)
  if (types.length > 0 && !types.some((type) => hasType(value, type))) {
    faults.push(expected(path, types, value))
    return value
  }
  const before = faults.length
  checkChoice(schema, value, path, faults)
  if (faults.length > before) return value
  if (typeof value === 'number') checkNumber(schema, value, path, faults)
  if (typeof value === 'string') {
    const limits = { min: schema['minLength'], max: schema['maxLength'], unit: 'characters' }
    checkLength(value.length, limits, path, faults)
    if (value.trim() !== '' && value.trim() === schema['description'])
      faults.push(`${path} is the description of the parameter, word for word: give the value itself`)
  }
  if (Array.isArray(value)) return checkItems(schema, value, path, faults)
  return isRecord(value) ? checkObject(schema, value, path, faults) : value
}

function checkAlternatives(schemas: readonly JsonSchema[], value: unknown, path: string, faults: string[]): unknown {
  const attempts = schemas.map((schema) => {
    const ownFaults: string[] = []
    return { ownFaults, value: checkValue(schema, value, path, ownFaults), schema }
  })
  const accepted = attempts.find((attempt) => attempt.ownFaults.length === 0)
  if (accepted !== undefined) return accepted.value
  const near = attempts.find(({ schema }) => typesOf(schema).some((type) => hasType(value, type)))
  faults.push(...(near?.ownFaults ?? [expected(path, schemas.flatMap(typesOf), value)]))
  return value
}

function checkObject(schema: JsonSchema, value: Record<string, unknown>, path: string, faults: string[]): unknown {
  const properties = schema['properties']
  const rest = schema['additionalProperties']
  if (!isRecord(properties)) return isRecord(rest) ? checkEntries(rest, value, path, faults) : value
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const kept: [string, unknown][] = []
  for (const [name, property] of Object.entries(properties)) {
    const isRequired = required.includes(name)
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    const at = path === '' ? name : `${path}.${name}`
    if (given === undefined || (given === null && !isRequired)) {
      if (isRecord(property) && 'default' in property) kept.push([name, structuredClone(property['default'])])
      else if (isRequired) faults.push(`missing required parameter: ${at}`)
    } else kept.push([name, isRecord(property) ? checkValue(property, given, at, faults) : given])
  }
  return Object.fromEntries(kept)
}

function checkEntries(rest: JsonSchema, value: Record<string, unknown>, path: string, faults: string[]): unknown {
  const at = path === '' ? '' : `${path}.`
  const entries = Object.entries(value).map(([key, item]) => [key, checkValue(rest, item, at + key, faults)])
  return Object.fromEntries(entries)
}

function checkItems(schema: JsonSchema, value: readonly unknown[], path: string, faults: string[]): unknown {
  checkLength(value.length, { min: schema['minItems'], max: schema['maxItems'], unit: 'items' }, path, faults)
  const items = schema['items']
  return isRecord(items) ? value.map((item, index) => checkValue(items, item, `${path}[${index}]`, faults)) : value
}

function checkChoice(schema: JsonSchema, value: unknown, path: string, faults: string[]): void {
  const allowed = 'const' in schema ? [schema['const']] : schema['enum']
  if (!Array.isArray(allowed) || allowed.some((choice) => JSON.stringify(choice) === JSON.stringify(value))) return
  const choices = allowed.map((choice) => JSON.stringify(choice)).join(', ')
  faults.push(`${named(path)} must be one of [${choices}], got: ${shown(value)}`)
}

const bounds = [
  ['minimum', 'greater than or equal to', (value: number, bound: number) => value >= bound],
  ['maximum', 'less than or equal to', (value: number, bound: number) => value <= bound],
  ['exclusiveMinimum', 'greater than', (value: number, bound: number) => value > bound],
  ['exclusiveMaximum', 'less than', (value: number, bound: number) => value < bound],
] as const

function checkNumber(schema: JsonSchema, value: number, path: string, faults: string[]): void {
  for (const [keyword, words, holds] of bounds) {
    const bound = schema[keyword]
    if (typeof bound === 'number' && !holds(value, bound))
      faults.push(`${named(path)} must be ${words} ${bound}, got: ${value}`)
  }
}

type Lengths = { min: unknown; max: unknown; unit: string }

function checkLength(length: number, { min, max, unit }: Lengths, path: string, faults: string[]): void {
  if (typeof min === 'number' && length < min)
    faults.push(`${named(path)} must have at least ${min} ${unit}, got: ${length}`)
  if (typeof max === 'number' && length > max)
    faults.push(`${named(path)} must have at most ${max} ${unit}, got: ${length}`)
}

function expected(path: string, types: readonly string[], value: unknown): string {
  const names = [...new Set(types)].map((type) => (type === 'null' ? type : (articles[type] ?? `a ${type}`)))
  return `expected ${named(path)} to be ${names.join(' or ')}, got: ${typeName(value)}`
}

function named(path: string): string {
  return path === '' ? 'arguments' : path
}

function typesOf(schema: JsonSchema): string[] {
  const type = schema['type']
  if (Array.isArray(type)) return type.filter((name) => typeof name === 'string')
  return typeof type === 'string' ? [type] : []
}

function hasType(value: unknown, type: string): boolean {
  return typeName(value) === type || (type === 'number' && typeof value === 'number')
}

function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
