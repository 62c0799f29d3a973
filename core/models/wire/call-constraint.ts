import type { DecodingConstraint, ToolDefinition } from '#domain/turn.ts'
import type { Capabilities } from './capabilities.ts'
import { callGrammar } from './call-grammar.ts'
import { plainSchema } from './plain-schema.ts'

/** Keys of a request that hold the reply's text to one form. */
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
  /** Whether the reply may also hold no call, and more than one: a structural tag alone can say so. */
  optional: boolean
  several: boolean
}

/**
 * What makes a server write a tool call as the reply's text, or undefined when it cannot. The fields are those of vLLM since
 * 0.12 (https://docs.vllm.ai/en/latest/features/structured_outputs/; `guided_json` and the like are gone) and llama.cpp
 * (https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md). Both take them beside tools only with
 * `tool_choice: none`: vLLM answers 400 to constraints with a named choice, llama.cpp to a grammar with any other.
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
      // Tokens such as <tool_call> are special in some vocabularies, and would be left out of the text.
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

function callFormat(tools: readonly ToolDefinition[], { strictSchemas }: Capabilities) {
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
  return { type: 'json_schema', json_schema: { name: 'tool_call', schema, strict: true } } as const
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
