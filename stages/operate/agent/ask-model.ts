import { AppError, type ErrorCode, isContextOverflow } from '#domain/error.ts'
import {
  failedTryView,
  type Message,
  type ModelReply,
  type ModelRequest,
  type RequestProgress,
  type ToolChoice,
} from '#domain/turn.ts'
import { submitToolName } from '#bundles/tool-definition.ts'
import type { Capabilities } from '#models/wire/capabilities.ts'
import type { Exchange } from '#store/objects/attempt-record.ts'
import { msSince } from '#platform/clock.ts'
import type { ToolSet } from '../tools/tool-set.ts'
import type { AgentSettings } from './agent-settings.ts'
import type { History, Sent } from './history.ts'
import { type Journal, shownName } from './journal.ts'
import type { Transcript } from './open-transcript.ts'

export type ModelAsker = {
  transcript: Transcript
  tools: Pick<ToolSet, 'definitions'>
  model: AskedModel
  settings: AgentSettings
  journal: Journal
  /** Is asked before each request how many tokens are reserved for it; undefined for any number. */
  reserve?(request: ModelRequest, signal: AbortSignal): Promise<number | undefined>
}

export type AskedModel = {
  complete(request: ModelRequest, signal: AbortSignal, progress?: RequestProgress): Promise<ModelReply>
  /** Returns how many tokens a request and its reply may have together; undefined where no server reports it. */
  contextTokens?(model: string, signal: AbortSignal): Promise<number | undefined>
  countPrompt?(request: ModelRequest, signal: AbortSignal): Promise<number | undefined>
  probe?(model: string, signal: AbortSignal): Promise<readonly Pick<Capabilities, 'structuredOutputs'>[]>
  health?: {
    works(model: string): Promise<boolean>
  }
}

/**
 * Sends one turn's request with as much of the conversation as fits, and once more with half of it. AGENT_007 when that is too long as
 * well, or the limits leave no room for the least that must be sent.
 */
export async function askModel(
  run: ModelAsker,
  { turn, history }: { turn: number; history: History },
  signal: AbortSignal,
): Promise<ModelReply> {
  const ask = async () => {
    const sent = history.fit()
    if (sent.tooLong !== undefined) throw tooLong(sent.tooLong)
    const reply = await askOnce(run, turn, sent, signal)
    history.counted(reply.usage.promptTokens)
    return reply
  }
  try {
    return await ask()
  } catch (error) {
    if (!isContextOverflow(error) || !history.halve()) throw error
    return ask()
  }
}

function tooLong({ tokens, maxTokens }: NonNullable<Sent['tooLong']>): AppError {
  const least = `what the agent must see needs at least ${tokens} tokens, more than the ${maxTokens} it may have`
  return new AppError('AGENT_007', `${least}: limits.context_tokens, or what the model's context leaves`, {
    phase: 'model',
  })
}

async function askOnce(run: ModelAsker, turn: number, sent: Sent, signal: AbortSignal): Promise<ModelReply> {
  const { transcript, tools, settings, journal } = run
  const { messages, leftOut } = sent
  const toolChoice = toolChoiceOf(run, turn)
  const choice = typeof toolChoice === 'string' ? toolChoice : toolChoice.name
  const asked = requestOf(run, messages, toolChoice)
  const reserved = await run.reserve?.(asked, signal)
  const request = { turn, messages: messages.length, tools: tools.definitions.length, tool_choice: choice }
  const more = { ...(leftOut === 0 ? {} : { left_out: leftOut }), ...(reserved === undefined ? {} : { reserved }) }
  journal.emit({ event: 'model.requested', phase: 'model', data: { ...request, ...more, model: settings.model } })
  const exchange = { turn, startedAt: Date.now(), toolChoice: choice, messages: messages.length, leftOut }
  const start = performance.now()
  try {
    const reply = await run.model.complete(asked, signal)
    const durationMs = msSince(start)
    transcript.addExchange({ ...exchange, durationMs, ...exchangeOf(reply) })
    journal.emit({ event: 'model.responded', phase: 'model', durationMs, data: { turn, ...responseOf(reply) } })
    if (reserved !== undefined) noteExceeded(journal, { turn, requested: reserved }, reply)
    return reply
  } catch (error) {
    const durationMs = msSince(start)
    transcript.addExchange({ ...exchange, durationMs, model: settings.model, error: faultOf(error) })
    journal.emitError(error, { turn, duration_ms: durationMs })
    throw error
  }
}

function noteExceeded(journal: Journal, asked: { turn: number; requested: number }, { usage, endpoint }: ModelReply) {
  const reported = usage.promptTokens + usage.completionTokens
  if (reported <= asked.requested) return
  const data = { ...asked, endpoint: shownName(endpoint), reported }
  journal.emit({ event: 'budget.exceeded_by_server', phase: 'model', data })
}

function toolChoiceOf({ tools, settings }: ModelAsker, turn: number): ToolChoice {
  if (tools.definitions.length === 0) return 'none'
  if (settings.oneTurn !== undefined) return { name: settings.oneTurn.carryOut }
  return turn === settings.maxTurns ? { name: submitToolName } : settings.toolChoice
}

function requestOf(
  { tools, settings }: ModelAsker,
  messages: readonly Message[],
  toolChoice: ToolChoice,
): ModelRequest {
  const { model, temperature, maxTokens, parallelCalls, constraint, prefixKey, oneTurn } = settings
  const how = { temperature, maxTokens, parallelCalls, constraint, prefixKey, argumentsOf: oneTurn?.answer }
  return { model, messages, tools: tools.definitions, toolChoice, ...how }
}

type AnsweredExchange = Omit<Exchange, 'turn' | 'startedAt' | 'durationMs' | 'toolChoice' | 'messages' | 'leftOut'>

function exchangeOf({ model, endpoint, tries, usage, finishReason, ...more }: ModelReply): AnsweredExchange {
  const { firstTokenMs, workarounds = [], failedTries, queueMs = 0 } = more
  return {
    model,
    endpoint,
    tries,
    ...(queueMs === 0 ? {} : { queueMs }),
    usage,
    finishReason,
    ...(firstTokenMs === undefined ? {} : { firstTokenMs }),
    ...(failedTries === undefined ? {} : { failedTries: [...failedTries] }),
    ...(workarounds.length === 0 ? {} : { workarounds: [...workarounds] }),
  }
}

function responseOf({ model, endpoint, tries, toolCalls, finishReason, usage, ...more }: ModelReply) {
  const { latencyMs, firstTokenMs, workarounds = [], failedTries, queueMs = 0 } = more
  const writingMs = latencyMs - (firstTokenMs ?? 0)
  const speed = writingMs > 0 ? { tokens_per_s: Math.round((usage.completionTokens * 10_000) / writingMs) / 10 } : {}
  return {
    model: shownName(model),
    endpoint: shownName(endpoint),
    calls: toolCalls.length,
    finish_reason: shownName(finishReason),
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    ...(firstTokenMs === undefined ? {} : { first_token_ms: Math.round(firstTokenMs) }),
    ...speed,
    ...(queueMs === 0 ? {} : { queue_ms: queueMs }),
    ...(tries === 1 ? {} : { tries }),
    ...(failedTries === undefined ? {} : { failed_tries: failedTries.map(failedTryView) }),
    ...(workarounds.length === 0 ? {} : { workarounds }),
  }
}

function faultOf(error: unknown): { code?: ErrorCode; message: string } {
  if (error instanceof AppError) return { code: error.code, message: error.message }
  return { message: error instanceof Error ? error.message : String(error) }
}
