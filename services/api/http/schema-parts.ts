import { z } from '@hono/zod-openapi'
import { camelName, type CamelKeys } from '#domain/wire-keys.ts'

/** It has digits only. */
export function wholeNumber(least: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/, 'not a whole number, or too large')
    .transform(Number)
    .refine((value) => value >= least && value <= most, `not within ${least} to ${most}`)
    .openapi({ type: 'integer', minimum: least, maximum: most })
}

export function pageLimit(most: number, usual: number) {
  return wholeNumber(1, most).default(usual).openapi({ default: usual, description: 'how many at most' })
}

export const Cursor = z
  .string()
  .regex(/^\d{1,9}$/, 'not a cursor')
  .optional()
  .openapi({ description: '`next` of the page before' })

/** `ms` is since the epoch. */
export function isoTime(ms: number): string
export function isoTime(ms: number | null): string | null
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

type RecordOf<View, Given extends keyof View> = Readonly<CamelKeys<Omit<View, Given>>>

/** Each field of `schema` has the value of the `record`'s field of the same name in camelCase, except those in `given`. */
export function viewOf<Schema extends z.ZodObject, Given extends keyof z.output<Schema>>(
  schema: Schema,
  record: RecordOf<z.output<Schema>, Given>,
  given: Pick<z.output<Schema>, Given>,
): z.output<Schema>
export function viewOf(schema: z.ZodObject, record: object, given: object): object {
  const stored = new Map(Object.entries(record))
  const own = new Map(Object.entries(given))
  const fields = Object.keys(schema.shape)
  return Object.fromEntries(
    fields.map((field) => [field, own.has(field) ? own.get(field) : stored.get(camelName(field))]),
  )
}

/** A list in a query, comma-separated. */
export const listed = z
  .string()
  .max(2_000)
  .transform((text) => text.split(',').filter((part) => part !== ''))
