const maxDepth = 64
/** Python has the same limit: it refuses to convert a longer integer to decimal digits. */
const maxDigits = 4_300
const maxHexDigits = Math.ceil(maxDigits / Math.log10(16))

/** Says why a value cannot be transferred. Only a value of the host can be `unreadable`: a getter that throws, a proxy. */
export class ValueRefused extends RangeError {
  readonly reason: 'value_depth' | 'value_size' | 'unreadable'

  constructor(reason: ValueRefused['reason'], message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.reason = reason
  }
}

/** The remaining size of a value: a string counts its length plus two, everything else two. */
type Room = { readonly size: number; left: number }

/**
 * A value as plain JSON, in either direction between host and script. Tuples and sets become arrays, dicts objects with
 * string keys (`__proto__` is an ordinary key), bytes base64, missing values and functions null. Numbers that JSON
 * lacks become strings: NaN, Infinity, and integers beyond 2^53; -0 becomes 0. Throws only ValueRefused. More than
 * about `maxSize` characters of JSON are refused before they are copied, even when parts of the value are shared.
 */
export function plainValue(value: unknown, maxSize: number): unknown {
  try {
    return plain(value, 0, { size: maxSize, left: maxSize })
  } catch (error) {
    if (error instanceof ValueRefused) throw error
    throw new ValueRefused('unreadable', 'the value cannot be read', { cause: error })
  }
}

function plain(value: unknown, depth: number, room: Room): unknown {
  take(room, 2)
  switch (typeof value) {
    case 'string':
      take(room, value.length)
      return value
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value + 0 : String(value)
    case 'bigint':
      return plainInteger(value)
    case 'object':
      return value === null ? null : plainObject(value, depth + 1, room)
    default:
      return null
  }
}

function plainInteger(value: bigint): unknown {
  if (Number.isSafeInteger(Number(value))) return Number(value)
  if (value.toString(16).length <= maxHexDigits) return String(value)
  throw new ValueRefused('value_size', `an integer has more than ${maxDigits} digits`)
}

function plainObject(value: object, depth: number, room: Room): unknown {
  if (depth > maxDepth) throw new ValueRefused('value_depth', `the value is nested deeper than ${maxDepth} levels`)
  if (Array.isArray(value)) return plainArray(value, depth, room)
  if (value instanceof Set) return plainArray([...value], depth, room)
  if (value instanceof Uint8Array) {
    take(room, value.length)
    return Buffer.from(value).toString('base64')
  }
  const copy: Record<string, unknown> = {}
  if (value instanceof Map) {
    for (const [key, item] of value) put(copy, plainKey(key, depth, room), plain(item, depth, room))
    return copy
  }
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue
    take(room, key.length)
    put(copy, key, plain(item, depth, room))
  }
  return copy
}

function plainArray(value: readonly unknown[], depth: number, room: Room): unknown[] {
  if (value.length > room.left) take(room, value.length) // an array may be all holes
  return Array.from(value, (item) => plain(item, depth, room))
}

function plainKey(key: unknown, depth: number, room: Room): string {
  if (typeof key !== 'string') return JSON.stringify(plain(key, depth, room))
  take(room, key.length)
  return key
}

/** An assignment to `__proto__` would set the prototype. */
function put(copy: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') copy[key] = value
  else Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true })
}

function take(room: Room, size: number): void {
  room.left -= size
  if (room.left < 0) throw new ValueRefused('value_size', `the value is larger than ${room.size} bytes`)
}
