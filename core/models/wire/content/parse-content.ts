import type { ToolDefinition } from '#domain/turn.ts'
import type { ContentReading, WrittenCall } from './content-reading.ts'
import { fenceOpening, readFencedCalls } from './read-fenced-calls.ts'
import { gemmaOpening, readGemmaCalls } from './read-gemma-calls.ts'
import { readJsonCalls } from './read-json-calls.ts'
import { callMarker, readMarkedCalls } from './read-marked-calls.ts'
import { readTaggedCalls } from './read-tagged-calls.ts'

/** `rest` is the content without its calls, and without what the model thought before them; null when nothing is left. */
export type ParsedContent = { calls: WrittenCall[]; rest: string | null; fault?: string }

/**
 * The tool calls a model wrote into its content, in any of the formats that models are trained on. JSON without tags or
 * a fence must be the whole content. A call that was begun and is not whole is a `fault`, and then there is no call at all.
 * What begins none of the formats is content as it is. Takes time in proportion to the content.
 */
export function parseContent(content: string, tools: readonly ToolDefinition[]): ParsedContent {
  const reading = readAnswer(answerOf(content).trim(), tools)
  if (reading === undefined) return { calls: [], rest: content }
  if (reading.fault !== undefined) return { calls: [], rest: content, fault: reading.fault }
  return { calls: reading.calls, rest: reading.rest === '' ? null : reading.rest }
}

function readAnswer(text: string, tools: readonly ToolDefinition[]): ContentReading | undefined {
  if (callMarker.test(text)) return readMarkedCalls(text)
  if (text.startsWith('{') || text.startsWith('[')) return readJsonCalls(text)
  return firstFormat(text)?.(text, tools)
}

/** The one whose sign comes first: calls may carry texts that hold the signs of others. */
function firstFormat(text: string): typeof readTaggedCalls | undefined {
  const signs = [
    { at: text.search(/<tool_call>|<function=/), read: readTaggedCalls },
    { at: text.indexOf(gemmaOpening), read: readGemmaCalls },
    { at: text.search(fenceOpening), read: readFencedCalls },
  ]
  return signs.filter(({ at }) => at !== -1).toSorted((one, other) => one.at - other.at)[0]?.read
}

/**
 * What follows the model's thoughts, in which nothing is called. Where the template has written `<think>` itself, only
 * the end of them is there; it counts when it comes before any call.
 */
function answerOf(content: string): string {
  const isOpen = content.trimStart().startsWith('<think>')
  const end = content.indexOf('</think>')
  if (end === -1) return isOpen ? '' : content
  const isBefore =
    isOpen || !/<tool_call>|<function=|<start_function_call>|^\s*(?:[{[`]|<\|)/.test(content.slice(0, end))
  return isBefore ? content.slice(end + '</think>'.length) : content
}
