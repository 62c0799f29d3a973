import { z } from 'zod'
import type { YamlPath } from './yaml-source.ts'
import { nearest } from './nearest.ts'

export type SchemaFault = { at: YamlPath; message: string; isUnknownKey: boolean }

const wanted: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a number',
  number: 'a number',
  object: 'a section with keys',
  record: 'a section with keys',
  string: 'a text',
}

/** Says what a value must be, for someone who knows no zod. A schema's own message comes first, and zod's stays for the rest. */
export function plainWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_value') return wordsOfChoice(issue.input, issue.values.map(String))
  if (issue.code === 'invalid_format' && issue.format === 'url')
    return 'must be an address, such as http://host:8000/v1'
  if (issue.code === 'too_small' && (issue.origin === 'array' || (issue.origin === 'string' && issue.minimum === 1)))
    return 'must not be empty'
  if (issue.code !== 'invalid_type') return undefined
  const what = wanted[issue.expected]
  if (what === undefined) return undefined
  return issue.input === undefined ? `is missing, and must be ${what}` : `must be ${what}`
}

function wordsOfChoice(given: unknown, choices: readonly string[]): string {
  const must = `must be one of ${choices.join(', ')}`
  if (given === undefined) return `is missing, and ${must}`
  if (typeof given !== 'string') return must
  const near = nearest(given, choices)
  return near === undefined ? must : `there is no ${given}: did you mean ${near}?`
}

/** Lists the faults of a value, one per wrong key; for a union, those of the alternative that fits best. */
export function schemaFaults(error: z.ZodError): SchemaFault[] {
  return error.issues.flatMap(faultsOf)
}

function faultsOf(issue: z.core.$ZodIssue): SchemaFault[] {
  const at = issue.path.filter((key) => typeof key !== 'symbol')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const path = [...at, key]
      return { at: path, message: `unknown key ${shown(path)}`, isUnknownKey: true }
    })
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const closest = issue.errors.reduce((least, other) => (distance(other) < distance(least) ? other : least))
    return closest.flatMap((inner) => faultsOf({ ...inner, path: [...issue.path, ...inner.path] }))
  }
  return [{ at, message: issue.message, isUnknownKey: false }]
}

/** Is greater for an alternative of another type than for one with faults inside. */
function distance(issues: readonly z.core.$ZodIssue[]): number {
  const isOfOtherType = issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0)
  return issues.length + (isOfOtherType ? 1_000 : 0)
}

const maxShownPath = 200

function shown(path: YamlPath): string {
  const text = path.join('.')
  return text.length > maxShownPath ? `${text.slice(0, maxShownPath)}…` : text
}

/** Suggests the most similar key to one that `schema` does not have, or lists all keys of its section. */
export function describeUnknownKey(schema: z.core.$ZodType, { at, message }: SchemaFault): string {
  const keys = keysAt(schema, at.slice(0, -1))
  if (keys.length === 0) return message
  const key = String(at.at(-1))
  if (keys.includes(key)) return `${message}: it does not go with the other keys of this entry`
  const near = nearest(key, keys)
  return `${message}: ${near === undefined ? `known are ${keys.join(', ')}` : `did you mean ${near}?`}`
}

function keysAt(schema: z.core.$ZodType, path: readonly (string | number)[]): string[] {
  const [key, ...rest] = path
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return keysAt(schema.unwrap(), path)
  }
  if (schema instanceof z.ZodUnion) return [...new Set(schema.options.flatMap((option) => keysAt(option, path)))]
  if (schema instanceof z.ZodObject) {
    if (key === undefined) return Object.keys(schema.shape)
    const next: z.core.$ZodType | undefined = schema.shape[key]
    return next === undefined ? [] : keysAt(next, rest)
  }
  if (schema instanceof z.ZodRecord) return keysAt(schema.valueType, rest)
  return schema instanceof z.ZodArray ? keysAt(schema.element, rest) : []
}
