import type { Message, ModelReply, RequestedCall, TokenUsage, ToolResult } from '#domain/turn.ts'
import type { Exchange, ToolRun } from '#store/objects/attempt-record.ts'
import { shortKnowledge } from '../context/bounded-text.ts'
import { fitValue } from '../tools/shorten.ts'

export type RanTool = {
  turn: number
  call: RequestedCall
  result: ToolResult
  durationMs: number
} & Pick<ToolRun, 'externals' | 'printed' | 'scriptMs'>

/** Holds what a transcript begins with: the prompts, or everything from an earlier attempt. */
export type TranscriptStart = {
  messages: readonly Message[]
  replies?: readonly unknown[]
  exchanges?: readonly Exchange[]
  tools?: readonly ToolRun[]
  usage?: TokenUsage
  model?: string
}

/** The conversation of one attempt and what it cost. Every assistant call has its result: they are added together. */
export type Transcript = {
  readonly messages: readonly Message[]
  readonly replies: readonly unknown[]
  readonly exchanges: readonly Exchange[]
  readonly toolRuns: readonly ToolRun[]
  readonly usage: Readonly<TokenUsage>
  readonly turns: number
  readonly model: string
  addReply(reply: Pick<ModelReply, 'model' | 'content' | 'toolCalls' | 'raw'>): void
  addCalls(calls: readonly RequestedCall[]): void
  addUser(content: string): void
  addToolText(call: RequestedCall, content: string): void
  /** Adds the result to the conversation, as `shown` where the model is to read something else, and to the tool runs. */
  addToolResult(ran: RanTool, more?: { shown?: string; note?: string | undefined }): void
  addExchange(exchange: Exchange): void
}

/** Limits what the model sees of a tool's answer; the attempt record has all of it. */
const maxShownCharacters = 16_000

export function openTranscript(start: TranscriptStart): Transcript {
  const messages = [...start.messages]
  const replies = [...(start.replies ?? [])]
  const exchanges = [...(start.exchanges ?? [])]
  const toolRuns = [...(start.tools ?? [])]
  const usage = { ...(start.usage ?? { promptTokens: 0, completionTokens: 0 }) }
  let model = start.model ?? ''
  const addToolText = (call: RequestedCall, content: string) =>
    void messages.push({ role: 'tool', toolCallId: call.id, content })
  return {
    messages,
    replies,
    exchanges,
    toolRuns,
    usage,
    get turns() {
      return replies.length
    },
    get model() {
      return model
    },
    addReply(reply) {
      model = reply.model
      replies.push(reply.raw)
      messages.push({ role: 'assistant', content: reply.content, toolCalls: reply.toolCalls })
    },
    addCalls: (calls) => void messages.push({ role: 'assistant', content: null, toolCalls: [...calls] }),
    addUser: (content) => void messages.push({ role: 'user', content }),
    addToolText,
    addToolResult({ call, ...ran }, { note, shown = textForModel(ran.result, note) } = {}) {
      addToolText(call, shown)
      toolRuns.push({ ...ran, callId: call.id, name: call.name, arguments: call.arguments })
    },
    addExchange(exchange) {
      exchanges.push(exchange)
      usage.promptTokens += exchange.usage?.promptTokens ?? 0
      usage.completionTokens += exchange.usage?.completionTokens ?? 0
    },
  }
}

export function firstMessages(systemPrompt: string, firstMessage: string): Message[] {
  return [
    { role: 'system', content: systemPrompt },
    { role: 'user', content: firstMessage },
  ]
}

function textForModel(result: ToolResult, note: string | undefined): string {
  const { outcome, summary, error } = result
  const knowledge = shortKnowledge(result.knowledgeDelta)
  const answer = {
    outcome,
    summary,
    ...(error === undefined ? {} : { error }),
    ...(Object.keys(knowledge).length === 0 ? {} : { knowledge }),
    ...(note === undefined ? {} : { note }),
    result: result.result,
  }
  return JSON.stringify(shortened(answer))
}

const shortenedNote = 'The answer was too long and is shortened. Ask for a part of it, for example for fewer lines.'

function shortened<Answer extends { result: unknown; note?: string }>(answer: Answer): Answer & { note?: string } {
  if (JSON.stringify(answer).length <= maxShownCharacters) return answer
  const { result, ...rest } = answer
  const note = rest.note === undefined ? shortenedNote : `${rest.note} ${shortenedNote}`
  const left = maxShownCharacters - JSON.stringify({ ...rest, note }).length
  return { ...answer, note, result: fitValue(result, Math.max(left, 1_000)) }
}
