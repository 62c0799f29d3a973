import { z } from '@hono/zod-openapi'

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
