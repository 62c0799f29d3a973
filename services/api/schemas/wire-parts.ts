import { z } from 'zod'

// The schemas of all that crosses HTTP are in this folder. The API declares its endpoints with them, and its clients parse its answers with
// them; they need neither Node nor a framework. They are strict: a client takes keys that they do not know for those of a newer service
// (`answerFits`). The `id` in the metadata of a schema is its name in the OpenAPI document.

/**
 * Makes a union of a named schema and null, as `anyOf` of a reference and null. `.nullable()` means the same to zod, but in the OpenAPI
 * document it makes the named schema itself nullable, wherever it is used, and client generators refuse that.
 */
export function orNull<T extends z.ZodType>(schema: T) {
  return z.union([schema, z.null()])
}

/** ISO 8601 in UTC, with milliseconds. */
export const Time = z.iso.datetime()

/**
 * Says whether an answer is as its schema says. Keys that are not in the schema do not count: a newer service may have added them. The API
 * sends also what has a default.
 */
export function answerFits<S extends z.ZodType>(schema: S, answer: unknown): answer is z.output<S> {
  const { error } = schema.safeParse(answer)
  return error === undefined || error.issues.every(({ code }) => code === 'unrecognized_keys')
}
