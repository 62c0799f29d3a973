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
