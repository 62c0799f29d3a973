import { z } from 'zod'

/**
 * What a server takes of a request for one model. What it refuses is asked for in another way that means the same
 * (`toOpenAi`).
 */
export const Capabilities = z.strictObject({
  /** `tool_choice: required`. */
  required: z.boolean(),
  /** `tool_choice` with the name of one tool. */
  named: z.boolean(),
  /** Schemas with `additionalProperties: false`. */
  strictSchemas: z.boolean(),
  /** `parallel_tool_calls`. */
  parallelCalls: z.boolean(),
  /** Assistant messages with tool calls, and the tools' answers, in the history. */
  toolMessages: z.boolean(),
  /** `response_format` with a JSON Schema. */
  jsonSchema: z.boolean(),
  /** vLLM's `structured_outputs` with a structural tag, and with a grammar. */
  structuralTag: z.boolean(),
  ebnf: z.boolean(),
  /** `stream_options.include_usage`. */
  streamUsage: z.boolean(),
})
export type Capabilities = z.infer<typeof Capabilities>

/** A server that refuses nothing: what is assumed of one that has not been asked. */
export const allCapabilities: Capabilities = {
  required: true,
  named: true,
  strictSchemas: true,
  parallelCalls: true,
  toolMessages: true,
  jsonSchema: true,
  structuralTag: true,
  ebnf: true,
  streamUsage: true,
}
