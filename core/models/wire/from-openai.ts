import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { ModelReply, ModelRequest, RequestedCall, TokenUsage } from '#domain/turn.ts'
import { parseContentCall } from './parse-content-call.ts'

const Call = z.object({
  id: z.string().nullish(),
  function: z.object({
    name: z.string(),
    // Some servers send the arguments as an object, or nothing for a tool without any.
    arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
  }),
})
type Call = z.infer<typeof Call>

const Count = z.int().min(0).nullish()
const Choice = z.object({
  message: z.object({ content: z.string().nullish(), tool_calls: z.array(Call).nullish() }),
  finish_reason: z.string().nullish(),
})

/** The part of a chat completion that is read; servers add keys of their own, which stay in `raw`. */
const Completion = z.object({
  model: z.string().nullish(),
  choices: z.tuple([Choice], Choice),
  usage: z.object({ prompt_tokens: Count, completion_tokens: Count }).nullish(),
})
type Completion = z.infer<typeof Completion>

/** What a completion says of itself; who gave it, and how fast, the pool adds. */
export type ReadReply = Omit<ModelReply, 'endpoint' | 'tries' | 'latencyMs' | 'firstTokenMs' | 'workarounds'>

/**
 * The reply a chat completion holds, from its first choice. AGENT_008 when it is none. A call without an id gets
 * `call_<position>`; missing usage is 0. Content that is a tool call becomes one, if tools were offered and the reply
 * calls none otherwise; it is then no content any more, but stays in `raw`.
 */
export function fromOpenAi(raw: unknown, request: Pick<ModelRequest, 'model' | 'tools' | 'toolChoice'>): ReadReply {
  const parsed = Completion.safeParse(raw)
  if (!parsed.success) throw notACompletion(parsed.error)
  const { model, choices, usage } = parsed.data
  const { message, finish_reason: finishReason } = choices[0]
  const content = message.content ?? null
  const toolCalls = (message.tool_calls ?? []).map(toRequestedCall)
  const written = toolCalls.length === 0 && content !== null && mayCall(request) ? parseContentCall(content) : undefined
  return {
    model: model ?? request.model,
    content: written === undefined ? content : null,
    toolCalls: written === undefined ? toolCalls : [written],
    finishReason: finishReason ?? 'unknown',
    usage: toUsage(usage),
    raw,
  }
}

function toRequestedCall(call: Call, index: number): RequestedCall {
  const { name, arguments: given } = call.function
  const args = typeof given === 'string' ? given : JSON.stringify(given ?? {})
  return { id: call.id ? call.id : `call_${index + 1}`, name, arguments: args }
}

function toUsage(usage: Completion['usage']): TokenUsage {
  return { promptTokens: usage?.prompt_tokens ?? 0, completionTokens: usage?.completion_tokens ?? 0 }
}

function mayCall(request: Pick<ModelRequest, 'tools' | 'toolChoice'>): boolean {
  return request.tools.length > 0 && request.toolChoice !== 'none'
}

function notACompletion(error: z.ZodError): AppError {
  const issue = error.issues[0]
  const where = issue === undefined ? '' : `: ${issue.path.join('.')}: ${issue.message}`
  return new AppError('AGENT_008', `the reply is not a chat completion${where}`, { cause: error, phase: 'model' })
}
