import type { Message, ModelReply, RequestedCall, TokenUsage, ToolResult } from '#domain/turn.ts'
import type { Exchange, ToolRun } from '#objects/attempt-record.ts'
import { shortKnowledge } from '../context/short-knowledge.ts'
import { fitValue } from '../tools/fit-value.ts'

export type RanTool = {
  turn: number
  call: RequestedCall
  result: ToolResult
  durationMs: number
} & Pick<ToolRun, 'externals' | 'printed' | 'scriptMs'>

/** What a transcript begins with: the prompts, or all of an earlier attempt's. */
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
  /** The model's name as the server gave it last. */
  readonly model: string
  addReply(reply: Pick<ModelReply, 'model' | 'content' | 'toolCalls' | 'raw'>): void
  addUser(content: string): void
  addToolText(call: RequestedCall, content: string): void
  addToolResult(ran: RanTool): void
  addExchange(exchange: Exchange): void
}

/** How much of a tool's answer the model is shown; the whole stays in the attempt record. */
const maxShownCharacters = 16_000

/** The system prompt and the first user message, or the conversation of the attempt that this one goes on from. */
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
    addUser: (content) => void messages.push({ role: 'user', content }),
    addToolText,
    addToolResult({ call, ...ran }) {
      addToolText(call, shownTo(ran.result))
      toolRuns.push({ ...ran, callId: call.id, name: call.name, arguments: call.arguments })
    },
    addExchange(exchange) {
      exchanges.push(exchange)
      usage.promptTokens += exchange.usage?.promptTokens ?? 0
      usage.completionTokens += exchange.usage?.completionTokens ?? 0
    },
  }
}

/** What a conversation begins with. */
export function firstMessages(systemPrompt: string, firstMessage: string): Message[] {
  return [
    { role: 'system', content: systemPrompt },
    { role: 'user', content: firstMessage },
  ]
}

function shownTo(result: ToolResult): string {
  const { outcome, summary, error } = result
  const learned = shortKnowledge(result.knowledgeDelta)
  const answer = {
    outcome,
    summary,
    ...(error === undefined ? {} : { error }),
    ...(Object.keys(learned).length === 0 ? {} : { knowledge: learned }),
    result: result.result,
  }
  return JSON.stringify(shortened(answer))
}

const shortenedNote = 'The answer was too long and is shortened. Ask for a part of it, for example for fewer lines.'

/** The answer as the model is shown it: whole JSON, also where its result is too long. */
function shortened<Answer extends { result: unknown }>(answer: Answer): Answer & { note?: string } {
  if (JSON.stringify(answer).length <= maxShownCharacters) return answer
  const { result, ...rest } = answer
  const left = maxShownCharacters - JSON.stringify({ ...rest, note: shortenedNote }).length
  return { ...answer, note: shortenedNote, result: fitValue(result, Math.max(left, 1_000)) }
}
