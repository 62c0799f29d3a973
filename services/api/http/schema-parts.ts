import { z } from '@hono/zod-openapi'

/**
 * A schema of the domain under its name in the OpenAPI document. It is a copy: schemas that were made before the OpenAPI extension
 * of zod was loaded have no method `openapi`.
 */
export function named<T extends z.ZodType>(name: string, schema: T, about: { description?: string } = {}): T {
  return schema.clone().openapi(name, about)
}

/**
 * A named schema or null, as `anyOf` of a reference and null. `.nullable()` says the same to zod, but in the OpenAPI document it
 * makes the named schema itself nullable, wherever it is used; generators of clients then refuse it.
 */
export function orNull<T extends z.ZodType>(schema: T) {
  return z.union([schema, z.null()])
}

/** A whole number as a query gives it: digits only, `least` to `most`. */
export function wholeNumber(least: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/, 'not a whole number')
    .transform(Number)
    .refine((value) => value >= least && value <= most, `not within ${least} to ${most}`)
    .openapi({ type: 'integer', minimum: least, maximum: most })
}

/** The `limit` of a page: 1 to `most`. */
export function pageLimit(most: number, usual: number) {
  return wholeNumber(1, most).default(usual).openapi({ default: usual, description: 'how many at most' })
}

/** A page's position among the operations of a run, as the page before it gave it out. */
export const Cursor = z
  .string()
  .regex(/^\d{1,9}$/, 'not a cursor')
  .optional()
  .openapi({ description: '`next` of the page before' })

/** Milliseconds since the epoch as ISO 8601; null stays null. */
export function isoTime(ms: number): string
export function isoTime(ms: number | null): string | null
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
