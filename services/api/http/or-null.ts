import { z } from '@hono/zod-openapi'

/**
 * A named schema or null, as `anyOf` of a reference and null. `.nullable()` says the same to zod, but in the OpenAPI document it
 * makes the named schema itself nullable, wherever it is used; generators of clients then refuse it.
 */
export function orNull<T extends z.ZodType>(named: T) {
  return z.union([named, z.null()])
}
