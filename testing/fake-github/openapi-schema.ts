/** What explains a schema to people, and keywords of OpenAPI that JSON Schema does not have. */
const ignored = new Set(['example', 'examples', 'description', 'title', 'externalDocs', 'discriminator', 'xml'])
const verbatim = new Set(['enum', 'const', 'default', 'required', 'type', 'format', 'pattern'])

/**
 * A schema of OpenAPI 3.0 as JSON Schema: `nullable` becomes a choice with null, also beside an enum; names beside a `$ref` are
 * dropped; `address` says by what id the referenced schema is known.
 */
export function toJsonSchema(schema: unknown, address: (reference: string) => string): object {
  if (!isRecord(schema)) return {}
  const reference = schema['$ref']
  if (typeof reference === 'string') return { $ref: address(reference) }
  const result: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'nullable' || ignored.has(keyword) || keyword.startsWith('x-')) continue
    result[keyword] = converted(keyword, value, address)
  }
  return schema['nullable'] === true ? { anyOf: [result, { type: 'null' }] } : result
}

function converted(keyword: string, value: unknown, address: (reference: string) => string): unknown {
  if (verbatim.has(keyword)) return value
  if (Array.isArray(value)) return value.map((one) => toJsonSchema(one, address))
  if (!isRecord(value)) return value
  if (keyword !== 'properties') return toJsonSchema(value, address)
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toJsonSchema(one, address)]))
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What is at these keys inside `value`, one below the other. */
export function valueAt(value: unknown, ...keys: string[]): unknown {
  let found = value
  for (const key of keys) found = isRecord(found) ? found[key] : undefined
  return found
}
