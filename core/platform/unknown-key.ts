import { z } from 'zod'
import { nearest } from './nearest.ts'
import type { SchemaFault } from './schema-faults.ts'

/** What to say of a key that `schema` does not know: the one that was meant, or all there are in its place. */
export function describeUnknownKey(schema: z.core.$ZodType, { at, message }: SchemaFault): string {
  const keys = keysAt(schema, at.slice(0, -1))
  if (keys.length === 0) return message
  const near = nearest(String(at.at(-1)), keys)
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
