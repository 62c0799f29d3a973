import type { DecodingConstraint, JsonSchema, ToolDefinition } from '#domain/turn.ts'
import { isRecord } from '#domain/json.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import type { Capabilities } from './capabilities.ts'
import { argumentsGrammar, callGrammar, isHeldByGrammar } from './call-grammar.ts'

/** Keys of a request that constrain the form of the reply's text. */
export type ConstraintKeys = {
  response_format?: {
    type: 'json_schema'
    json_schema: { name: string; schema: Record<string, unknown>; strict: true }
  }
  structured_outputs?: { structural_tag: string } | { grammar: string }
  grammar?: string
  skip_special_tokens?: false
}

export type ConstrainedCalls = {
  tools: readonly ToolDefinition[]
  /** Whether the reply may have no call, and more than one; only a structural tag can express either. */
  optional: boolean
  several: boolean
}

/**
 * The keys that make a server write a tool call as the reply's text; undefined when it cannot. The fields are those of vLLM
 * since 0.12 (https://docs.vllm.ai/en/latest/features/structured_outputs/; `guided_json` and the like were removed) and
 * llama.cpp (https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md). Both take them together with tools
 * only with `tool_choice: none`: vLLM answers 400 to constraints with a named choice, llama.cpp to a grammar with any other.
 */
export function constraintKeys(
  constraint: Exclude<DecodingConstraint, 'none'>,
  calls: ConstrainedCalls,
  capabilities: Capabilities,
): ConstraintKeys | undefined {
  switch (constraint) {
    case 'json_schema':
      return capabilities.jsonSchema ? { response_format: callFormat(calls.tools, capabilities) } : undefined
    case 'structural_tag':
      // Tokens such as <tool_call> are special in some vocabularies, and would be omitted from the text.
      return capabilities.structuralTag
        ? { structured_outputs: { structural_tag: JSON.stringify(callTags(calls)) }, skip_special_tokens: false }
        : undefined
    case 'ebnf':
      return grammarKeys(callGrammar(calls.tools), capabilities.ebnf)
  }
}

function grammarKeys(grammar: string, field: Capabilities['ebnf']): ConstraintKeys | undefined {
  if (field === 'none') return undefined
  return field === 'grammar' ? { grammar } : { structured_outputs: { grammar } }
}

/** By the array of definitions, since a bundle sends the same with every request. */
const formats = { strict: new WeakMap<object, CallFormat>(), plain: new WeakMap<object, CallFormat>() }
type CallFormat = NonNullable<ConstraintKeys['response_format']>

function callFormat(tools: readonly ToolDefinition[], { strictSchemas }: Capabilities): CallFormat {
  return getOrMake(formats[strictSchemas ? 'strict' : 'plain'], tools, () => makeCallFormat(tools, strictSchemas))
}

function makeCallFormat(tools: readonly ToolDefinition[], strictSchemas: boolean): CallFormat {
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

/** The keys that make a server write the arguments of the first tool as the reply's text; undefined when it cannot. */
export function argumentsKeys(
  tools: readonly ToolDefinition[],
  { strictSchemas, jsonSchema, ebnf, lengths }: Capabilities,
): ConstraintKeys | undefined {
  // A server that takes no bounds may not take so long a grammar either.
  const held = lengths !== 'none' && isHeldByGrammar(tools) ? grammarKeys(argumentsGrammar(tools), ebnf) : undefined
  if (held !== undefined || !jsonSchema) return held
  const { name = 'arguments', parameters = {} } = tools[0] ?? {}
  const schema = strictSchemas ? { ...parameters } : plainSchema(parameters)
  return { response_format: { type: 'json_schema', json_schema: { name, schema, strict: true } } }
}

/** Calls as Hermes and Qwen write them (https://xgrammar.mlc.ai/docs/tutorials/structural_tag.html). */
function callTags({ tools, optional, several }: ConstrainedCalls): object {
  const tags = tools.map(({ name, parameters }) => ({
    type: 'tag',
    begin: `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": `,
    content: { type: 'json_schema', json_schema: parameters },
    end: '}\n</tool_call>',
  }))
  const format = { type: 'triggered_tags', triggers: ['<tool_call>'], tags }
  return { type: 'structural_tag', format: { ...format, at_least_one: !optional, stop_after_first: !several } }
}

/** Keywords that some parsers of tool schemas refuse. None is needed: arguments are checked when they arrive. */
const droppedKeywords = new Set(
  '$schema $id $comment additionalProperties unevaluatedProperties patternProperties propertyNames'.split(' '),
)
/** Keywords whose keys are names, not keywords. */
const namedSchemas = new Set(['properties', '$defs', 'definitions'])
/** Keywords whose value is data. */
const plainValues = new Set(['enum', 'default', 'examples', 'required'])

/** The schema in keywords that every server knows: `const` as an `enum` of one value, and without `droppedKeywords`. */
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
