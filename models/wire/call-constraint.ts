import type { JsonSchema, LiteralConstraint, ToolDefinition } from '#domain/turn.ts'
import { isRecord } from '#domain/json.ts'
import type { Capabilities } from './capabilities.ts'

export type ConstraintKeys = {
  response_format?: {
    type: 'json_schema'
    json_schema: { name: string; schema: Record<string, unknown>; strict: true }
  }
  structured_outputs?: LiteralConstraint
  skip_special_tokens?: false
}

/** Tokens such as <tool_call> are special in some vocabularies, and would be omitted from the text. */
export function literalKeys(constraint: LiteralConstraint): ConstraintKeys {
  return { structured_outputs: constraint, skip_special_tokens: false }
}

type CallFormat = NonNullable<ConstraintKeys['response_format']>

/** Makes a server write a call as the reply's text. vLLM and llama.cpp take that together with tools only with `tool_choice: none`. */
export function callFormat(
  tools: readonly ToolDefinition[],
  { strictSchemas }: Pick<Capabilities, 'strictSchemas'>,
): CallFormat {
  const forms = tools.map(({ name, parameters }) => ({
    type: 'object',
    properties: {
      name: { type: 'string', enum: [name] },
      arguments: strictSchemas ? { ...parameters } : plainSchema(parameters),
    },
    required: ['name', 'arguments'],
    ...(strictSchemas ? { additionalProperties: false } : {}),
  }))
  const [only] = forms
  const schema: Record<string, unknown> = forms.length === 1 && only !== undefined ? only : { anyOf: forms }
  return { type: 'json_schema', json_schema: { name: 'tool_call', schema, strict: true } }
}

/** Makes a server write the arguments of the first tool as the reply's text. */
export function argumentsFormat(
  tools: readonly ToolDefinition[],
  { strictSchemas }: Pick<Capabilities, 'strictSchemas'>,
): CallFormat {
  const { name = 'arguments', parameters = {} } = tools[0] ?? {}
  const schema = strictSchemas ? { ...parameters } : plainSchema(parameters)
  return { type: 'json_schema', json_schema: { name, schema, strict: true } }
}

/** Some parsers of tool schemas refuse these. None is needed: arguments are checked when they arrive. */
const droppedKeywords = new Set(
  '$schema $id $comment additionalProperties unevaluatedProperties patternProperties propertyNames'.split(' '),
)
const namedSchemas = new Set(['properties', '$defs', 'definitions'])
const plainValues = new Set(['enum', 'default', 'examples', 'required'])

/** Writes the schema in keywords that every server knows: `const` as an `enum` of one value, and without `droppedKeywords`. */
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
