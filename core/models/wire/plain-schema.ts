import { isRecord } from '#domain/json.ts'
import type { JsonSchema } from '#domain/turn.ts'

/** Keywords that some parsers of tool schemas refuse. None of them is needed: arguments are checked when they come. */
const droppedKeywords = new Set([
  '$schema',
  '$id',
  '$comment',
  'additionalProperties',
  'unevaluatedProperties',
  'patternProperties',
  'propertyNames',
])
/** Keywords whose keys are names, not keywords. */
const namedSchemas = new Set(['properties', '$defs', 'definitions'])
/** Keywords whose value is data. */
const plainValues = new Set(['enum', 'default', 'examples', 'required'])

/** The same schema in the words every server knows: `const` as an `enum` of one, nothing said of other keys. */
export function plainSchema(schema: JsonSchema): Record<string, unknown> {
  const kept = Object.entries(schema).filter(([keyword]) => !droppedKeywords.has(keyword))
  return Object.fromEntries(kept.map(([keyword, value]) => plainKeyword(keyword, value)))
}

function plainKeyword(keyword: string, value: unknown): [string, unknown] {
  if (keyword === 'const') return ['enum', [value]]
  if (plainValues.has(keyword)) return [keyword, value]
  if (namedSchemas.has(keyword) && isRecord(value)) {
    return [keyword, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plainValue(inner)]))]
  }
  return [keyword, plainValue(value)]
}

function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue)
  return isRecord(value) ? plainSchema(value) : value
}
