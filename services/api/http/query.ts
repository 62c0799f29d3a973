import type { Context } from 'hono'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { ApiEnv } from './api-env.ts'

/** The `limit` of a page: 1 to `most`. */
export function pageLimit(most: number, usual: number) {
  return z.coerce.number().int().min(1).max(most).default(usual)
}

/** A page's position among the operations of a run, as the page before it gave it out. */
export const Cursor = z
  .string()
  .regex(/^\d{1,9}$/, 'not a cursor')
  .optional()

/** The query of a request by its schema. RUN_002 names every parameter that is wrong or unknown. */
export function readQuery<Shape extends z.ZodRawShape>(shape: Shape, context: Context<ApiEnv>) {
  const parsed = z.strictObject(shape).safeParse(context.req.query())
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => [...issue.path, issue.message].join(': '))
  throw new AppError('RUN_002', faults.join('; '))
}
