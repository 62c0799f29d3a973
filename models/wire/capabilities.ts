import { z } from 'zod'
import type { ModelRequest } from '#domain/turn.ts'

/** Says what a server takes of requests for one model, and does not just ignore. The rest is sent in another form (`toOpenAi`). */
export const Capabilities = z.strictObject({
  /** Some chat templates have no messages with the role `system`. */
  systemRole: z.boolean(),
  tools: z.boolean(),
  auto: z.boolean(),
  /** It is `loose` where a call comes, but text may come before it, without end. */
  required: z.enum(['alone', 'loose', 'none']),
  named: z.boolean(),
  /** A schema may have `additionalProperties: false`. */
  strictSchemas: z.boolean(),
  /** Only with `strict: true` of a tool does vLLM hold arguments to their schema, also with `required` and named choices. */
  strictArguments: z.boolean(),
  /** Says how long a text a schema may bound (`longestText`): the reply may be cut before its call is closed otherwise. */
  lengths: z.enum(['long', 'short', 'none']),
  parallelCalls: z.boolean(),
  /** The history may have assistant messages with tool calls, and the tools' answers. */
  toolMessages: z.boolean(),
  /** `response_format` has a JSON Schema, together with `tools` that must not be called. */
  jsonSchema: z.boolean(),
  /** vLLM's `structured_outputs` serve bundles with a constraint of their own. */
  structuredOutputs: z.boolean(),
  streamUsage: z.boolean(),
})
export type Capabilities = z.infer<typeof Capabilities>

export const allCapabilities: Capabilities = {
  systemRole: true,
  tools: true,
  auto: true,
  required: 'alone',
  named: true,
  strictSchemas: true,
  strictArguments: true,
  lengths: 'long',
  parallelCalls: true,
  toolMessages: true,
  jsonSchema: true,
  structuredOutputs: true,
  streamUsage: true,
}

/** Tells whether a request has anything that some server does not take. A plain message is sent without a probe. */
export function mayBeRefused({ tools, messages }: Pick<ModelRequest, 'tools' | 'messages'>): boolean {
  return tools.length > 0 || messages.some(({ role }) => role !== 'user')
}
