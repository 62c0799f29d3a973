import { z } from 'zod'
import type { FailedTry } from './failed-try.ts'

/** The JSON Schema of a tool's arguments, as it is offered to the model and used to check what comes back. */
export type JsonSchema = { readonly [keyword: string]: unknown }

export type ToolDefinition = { name: string; description: string; parameters: JsonSchema }

/** A call as the model sent it: `arguments` is text until the loop has parsed it. */
export const RequestedCall = z.strictObject({
  id: z.string(),
  name: z.string(),
  arguments: z.string(),
  parsedFromContent: z.boolean().optional(),
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

/**
 * What holds the model to a form while it writes: nothing, the JSON Schema of one tool call, a call between structural tags,
 * or a grammar of all tools (EBNF).
 */
export type DecodingConstraint = 'none' | 'json_schema' | 'structural_tag' | 'ebnf'

export type ModelRequest = {
  /** A model, or an adapter of one, by the name its servers know it by. */
  model: string
  messages: readonly Message[]
  tools: readonly ToolDefinition[]
  toolChoice: ToolChoice
  temperature: number
  maxTokens: number
  /** Whether one reply may hold several calls; nothing is said about it when absent. */
  parallelCalls?: boolean | undefined
  constraint?: DecodingConstraint | undefined
  /** Requests with one key begin alike, and are best served where that beginning is cached. */
  prefixKey?: string | undefined
}

export const TokenUsage = z.strictObject({ promptTokens: z.int().min(0), completionTokens: z.int().min(0) })
export type TokenUsage = z.infer<typeof TokenUsage>

export type ModelReply = {
  /** The server's own words for which model answered; the rehearsal model names itself here. */
  model: string
  content: string | null
  toolCalls: RequestedCall[]
  /** A call that was begun in the content and is not whole: what is wrong with it. It is no call. */
  callFault?: string | undefined
  finishReason: string
  usage: TokenUsage
  /** The server that answered, without credentials, and how often the request was sent until it did. */
  endpoint: string
  tries: number
  /** Of those tries the first that failed; absent where none did. */
  failedTries?: readonly FailedTry[] | undefined
  latencyMs: number
  /** From sending until the first part of a streamed reply; absent when the reply was not streamed. */
  firstTokenMs?: number | undefined
  /** What of the request the server cannot do, and was done another way. */
  workarounds?: readonly string[] | undefined
  /** The reply as it came, for the attempt record. */
  raw: unknown
}

/** What a tool answers (contract.md §6). `errorCode` is there when the call itself could not be carried out. */
export const ToolResult = z.strictObject({
  outcome: z.enum(['success', 'partial', 'error']),
  result: z.unknown(),
  summary: z.string(),
  knowledgeDelta: z.record(z.string(), z.unknown()).default({}),
  error: z.string().optional(),
  errorCode: z.string().optional(),
})
export type ToolResult = z.infer<typeof ToolResult>

/** The terminal tool call's arguments. `changedFiles` is checked against the workspace, not believed. */
export const Submission = z.strictObject({
  status: z.enum(['success', 'failed', 'skipped']),
  summary: z.string().max(4000),
  changedFiles: z.array(z.string()),
  details: z.record(z.string(), z.unknown()),
  error: z.string().optional(),
})
export type Submission = z.infer<typeof Submission>
