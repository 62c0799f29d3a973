import type { ToolDefinition } from '#domain/turn.ts'
import type { WrittenCall } from './content-reading.ts'
import { cutReply, type ReplyPart } from './cut-reply.ts'

/** `rest` is the content without its calls and the thoughts before them; null when nothing is left. */
export type ParsedContent = { calls: WrittenCall[]; rest: string | null; fault?: string }

/** Servers leave these end-of-turn tokens in the text. */
const turnEnds =
  '<|eom_id|> <|eot_id|> <|im_end|> <|endoftext|> <|end_of_text|> </s> <end_of_turn> <eos> <start_function_response>'.split(
    ' ',
  )

/**
 * Reads the tool calls at the end of a model's content, in any format that models are trained on, in linear time. After prose,
 * only calls of offered tools count. A call that is not whole, or has text behind it outside a fence, is a `fault`; then there
 * are no calls. Without calls, content is `rest`.
 */
export function parseContent(content: string, tools: readonly ToolDefinition[]): ParsedContent {
  const parts = cutReply(withoutTurnEnds(content), tools).filter(
    ({ kind, text }) => kind !== 'prose' || text.trim() !== '',
  )
  const nothing = { calls: [], rest: content }
  const last = parts.at(-1)
  const broken = parts.find((part) => part.kind === 'broken' && (!part.isFenced || part === last))
  if (broken?.kind === 'broken') return { ...nothing, fault: broken.fault }

  const isOffered = ({ name }: WrittenCall) => tools.some((tool) => tool.name === name)
  const isCall = (part: ReplyPart) => part.kind === 'calls' && !part.isFenced && part.calls.every(isOffered)
  const start = startOfCalls(parts)
  const before = parts.slice(0, start)
  if (before.some(isCall)) return { ...nothing, fault: 'there is text behind a call, and a call must end the answer' }
  const calls = parts.slice(start).flatMap((part) => (part.kind === 'calls' ? part.calls : []))
  if (calls.length === 0 || (before.length > 0 && !calls.every(isOffered))) return nothing
  const rest = before.map(({ text }) => text).join('')
  return { calls, rest: rest.trim() || null }
}

function startOfCalls(parts: readonly ReplyPart[]): number {
  const last = parts.at(-1)
  if (last?.kind !== 'calls') return parts.length
  return 1 + parts.findLastIndex((part) => part.kind !== 'calls' || part.isFenced !== last.isFenced)
}

function withoutTurnEnds(content: string): string {
  let text = content.trimEnd()
  for (let end = turnEndOf(text); end !== undefined; end = turnEndOf(text)) text = text.slice(0, -end.length).trimEnd()
  return text
}

function turnEndOf(text: string): string | undefined {
  return turnEnds.find((end) => text.endsWith(end))
}
