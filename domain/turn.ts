import { z } from 'zod'

/** The JSON Schema of a tool's arguments, as it is offered to the model and used to check what comes back. */
export type JsonSchema = { readonly [keyword: string]: unknown }

export type ToolDefinition = { name: string; description: string; parameters: JsonSchema }

/** A call as the model sent it: `arguments` is text until the loop has parsed it. */
export const RequestedCall = z.strictObject({
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
  parsedFromContent: z.boolean().optional(),
  /** The loop made it, not the model. */
  byCode: z.boolean().optional(),
})
export type RequestedCall = z.infer<typeof RequestedCall>

export const Message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string() }),
  z.strictObject({ role: z.literal('user'), content: z.string() }),
  z.strictObject({ role: z.literal('assistant'), content: z.string().nullable(), toolCalls: z.array(RequestedCall) }),
  z.strictObject({ role: z.literal('tool'), toolCallId: z.string(), content: z.string() }),
])
export type Message = z.infer<typeof Message>

export type ToolChoice = 'required' | 'auto' | 'none' | { name: string }

const literalKinds = ['json', 'json_object', 'regex', 'choice', 'grammar', 'structural_tag']

/** It goes to the server unchanged, as vLLM's `structured_outputs` (https://docs.vllm.ai/en/latest/features/structured_outputs/). */
const LiteralConstraint = z
  .record(z.string(), z.unknown())
  .refine((given) => literalKinds.some((kind) => Object.hasOwn(given, kind)), {
    error: `must have one of ${literalKinds.join(', ')}`,
  })
export type LiteralConstraint = z.infer<typeof LiteralConstraint>

/** It says how decoding is constrained: not at all, by the JSON Schema of one tool call, or in the server's own words. */
export const DecodingConstraint = z.union([
  z.enum(['none', 'json_schema'], {
    error: "must be none, json_schema, or a mapping: one of vLLM's structured_outputs",
  }),
  LiteralConstraint,
])
export type DecodingConstraint = z.infer<typeof DecodingConstraint>

export type ModelRequest = {
  model: string
  messages: readonly Message[]
  tools: readonly ToolDefinition[]
  toolChoice: ToolChoice
  /**
   * Is the tool of a named `toolChoice` whose arguments alone are the answer, where a server holds text to their
   * schema. Nothing in such a request speaks of tools, which small models repeat; other servers are asked for the call.
   */
  argumentsOf?: ToolDefinition | undefined
  temperature: number
  maxTokens: number
  /** Is true when one reply may hold several calls; absent, the server decides. */
  parallelCalls?: boolean | undefined
  constraint?: DecodingConstraint | undefined
  /** Requests with the same key share a prefix: the server that has it in its cache answers fastest. */
  prefixKey?: string | undefined
  /** Says whose request it is, so that runs share the servers; it is not sent. */
  share?: RequestShare | undefined
}

/** A run's part of the model servers: projects share them equally, the runs of a project by weight. */
export type RequestShare = { projectId: string; runId: string; weight: number }

/** Is called while a request is carried out, in this order: `queued`, then `sent` for each try, and `failed` when the try failed. */
export type RequestProgress = {
  /** No server works on it: it waits for a slot, or for its next try. */
  queued(): void
  /** A server works on it from now on. */
  sent(): void
  /** The try that was sent has failed; no server works on it any more. */
  failed(): void
}

export const TokenUsage = z.strictObject({ promptTokens: z.int().min(0), completionTokens: z.int().min(0) })
export type TokenUsage = z.infer<typeof TokenUsage>

export type ModelReply = {
  model: string
  content: string | null
  toolCalls: RequestedCall[]
  /** Says what is wrong with an incomplete call in the content. It does not count as a call. */
  callFault?: string | undefined
  finishReason: string
  usage: TokenUsage
  /** The server that answered, without credentials. `tries` counts the requests sent until then. */
  endpoint: string
  tries: number
  failedTries?: readonly FailedTry[] | undefined
  latencyMs: number
  /** Measures how long it waited for slots, before all its tries together. */
  queueMs?: number | undefined
  /** Measures from sending until the first part of a streamed reply; is absent when the reply was not streamed. */
  firstTokenMs?: number | undefined
  /** Features that the server lacks, for which a workaround was used. */
  workarounds?: readonly string[] | undefined
  /** The unparsed reply, for the attempt record. */
  raw: unknown
}

/** A tool's answer. `errorCode` is set when the call itself could not be carried out. */
export const ToolResult = z.strictObject({
  outcome: z.enum(['success', 'partial', 'error']),
  result: z.unknown(),
  summary: z.string(),
  knowledgeDelta: z.record(z.string(), z.unknown()).default({}),
  error: z.string().optional(),
  errorCode: z.string().optional(),
})
export type ToolResult = z.infer<typeof ToolResult>

/** The arguments of the terminal tool call. `changedFiles` is checked against the workspace. */
export const Submission = z.strictObject({
  status: z.enum(['success', 'failed', 'skipped']),
  summary: z.string().max(4000),
  changedFiles: z.array(z.string()),
  details: z.record(z.string(), z.unknown()),
  error: z.string().optional(),
})
export type Submission = z.infer<typeof Submission>

/** An estimate for English and code, used until a server has counted tokens; tokens of other scripts are shorter. */
export const charactersPerToken = 4

export const FailedTry = z.strictObject({
  endpoint: z.string(),
  code: z.string(),
  message: z.string(),
  durationMs: z.number(),
})
export type FailedTry = z.infer<typeof FailedTry>

/** A failed try in events and in the API. */
export function failedTryView({ endpoint, code, message, durationMs }: FailedTry) {
  return { endpoint, error_code: code, message, duration_ms: durationMs }
}
