/** Nesting beyond this is refused in both directions. */
const maxDepth = 64

/** The value is nested deeper than either side takes. */
export class ValueTooDeep extends RangeError {}

/**
 * A value as plain JSON, in either direction between host and script. Tuples and sets become arrays, dicts objects with
 * string keys (`__proto__` is a key like any other), bytes base64, missing values null. Numbers JSON does not have
 * become strings: NaN, Infinity, and integers beyond 2^53. Throws ValueTooDeep.
 */
export function plainValue(value: unknown, depth = 0): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value + 0 : String(value) // JSON has no -0 either
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
    case 'object':
      return value === null ? null : plainObject(value, depth + 1)
    default:
      return null
  }
}

function plainObject(value: object, depth: number): unknown {
  if (depth > maxDepth) throw new ValueTooDeep(`the value is nested deeper than ${maxDepth} levels`)
  if (Array.isArray(value) || value instanceof Set) return Array.from(value, (item) => plainValue(item, depth))
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Map) {
    return Object.fromEntries(Array.from(value, ([key, item]) => [plainKey(key), plainValue(item, depth)]))
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, plainValue(item, depth)]),
  )
}

/** A dict key as Python's json module writes it; a tuple becomes its JSON. */
function plainKey(key: unknown): string {
  if (typeof key === 'string') return key
  return JSON.stringify(plainValue(key))
}
