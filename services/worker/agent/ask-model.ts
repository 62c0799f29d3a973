import { AppError, type ErrorCode } from '#domain/error.ts'
import type { ModelReply, ModelRequest, ToolChoice, ToolDefinition } from '#domain/turn.ts'
import { submitToolName } from '#bundles/submit-tool.ts'
import type { Exchange } from '#objects/attempt-record.ts'
import { msSince } from '#platform/clock.ts'
import type { ToolSet } from '../tools/tool-set.ts'
import type { Journal } from './journal.ts'
import type { Transcript } from './transcript.ts'

export type AgentSettings = {
  /** A model, or an adapter of one. */
  model: string
  temperature: number
  /** Of all turns but the last, which must submit. */
  toolChoice: 'required' | 'auto'
  maxTokens: number
  maxTurns: number
}

export type ModelAsker = {
  transcript: Transcript
  tools: Pick<ToolSet, 'definitions'>
  model: { complete(request: ModelRequest, signal: AbortSignal): Promise<ModelReply> }
  settings: AgentSettings
  journal: Journal
}

/** One turn's request with the whole conversation, told as two events and kept in the transcript, however it ends. */
export async function askModel(run: ModelAsker, turn: number, signal: AbortSignal): Promise<ModelReply> {
  const { transcript, tools, settings, journal } = run
  const isLast = turn === settings.maxTurns
  const toolChoice: ToolChoice = isLast ? { name: submitToolName } : settings.toolChoice
  const request = { ...requestOf(run, tools.definitions), toolChoice }
  const choice = isLast ? submitToolName : settings.toolChoice
  const asked = { turn, messages: request.messages.length, tools: tools.definitions.length, tool_choice: choice }
  journal.emit({ event: 'model.requested', phase: 'model', data: { ...asked, model: settings.model } })
  const sent = { turn, startedAt: Date.now(), toolChoice: choice, messages: request.messages.length, leftOut: 0 }
  const start = performance.now()
  try {
    const reply = await run.model.complete(request, signal)
    const durationMs = msSince(start)
    transcript.addExchange({ ...sent, durationMs, ...exchangeOf(reply) })
    journal.emit({ event: 'model.responded', phase: 'model', durationMs, data: { turn, ...responseOf(reply) } })
    return reply
  } catch (error) {
    const durationMs = msSince(start)
    const { message, ...fault } = faultOf(error)
    transcript.addExchange({ ...sent, durationMs, model: settings.model, error: { ...fault, message } })
    journal.emitError('model.responded', 'model', error, { turn, duration_ms: durationMs })
    throw error
  }
}

type AnsweredExchange = Omit<Exchange, 'turn' | 'startedAt' | 'durationMs' | 'toolChoice' | 'messages' | 'leftOut'>

function exchangeOf({ model, endpoint, tries, usage, finishReason, ...more }: ModelReply): AnsweredExchange {
  const { firstTokenMs, workarounds = [] } = more
  return {
    model,
    endpoint,
    tries,
    usage,
    finishReason,
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    ...(workarounds.length === 0 ? {} : { workarounds: [...workarounds] }),
  }
}

/** What the event says of a reply. Tokens per second are of the time after the first, where that is known. */
function responseOf({ model, endpoint, tries, toolCalls, finishReason, usage, ...more }: ModelReply) {
  const { latencyMs, firstTokenMs, workarounds = [] } = more
  const writingMs = latencyMs - (firstTokenMs ?? 0)
  const speed = writingMs > 0 ? { tokens_per_s: Math.round((usage.completionTokens * 10_000) / writingMs) / 10 } : {}
  return {
    model,
    endpoint,
    calls: toolCalls.length,
    finish_reason: finishReason,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    ...(firstTokenMs === undefined ? {} : { first_token_ms: Math.round(firstTokenMs) }),
    ...speed,
    ...(tries === 1 ? {} : { tries }),
    ...(workarounds.length === 0 ? {} : { workarounds }),
  }
}

function faultOf(error: unknown): { code?: ErrorCode; message: string } {
  if (error instanceof AppError) return { code: error.code, message: error.message }
  return { message: error instanceof Error ? error.message : String(error) }
}

function requestOf(run: ModelAsker, tools: readonly ToolDefinition[]): Omit<ModelRequest, 'toolChoice'> {
  const { model, temperature, maxTokens } = run.settings
  return { model, messages: run.transcript.messages, tools, temperature, maxTokens }
}
