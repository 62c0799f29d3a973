import type { ToolDefinition } from '#domain/turn.ts'
import type { ContentReading } from './content-reading.ts'
import { readJsonCalls } from './read-json-calls.ts'

/** The first line of a fence in which calls are looked for. */
export const fenceOpening = /^[ \t]*```(?:json|tool_calls?|tool_code)?[ \t]*\r?\n/m
const fence = '\n```'

/**
 * The JSON calls in a Markdown fence. Prose may stand around it, but then only offered tools are called: it may show
 * JSON of another kind.
 */
export function readFencedCalls(text: string, tools: readonly ToolDefinition[]): ContentReading | undefined {
  const opening = fenceOpening.exec(text)
  if (opening === null) return undefined
  const start = opening.index + opening[0].length
  const end = text.indexOf(fence, start)
  const body = text.slice(start, end === -1 ? undefined : end).trim()
  const reading = readJsonCalls(body)
  if (reading === undefined || reading.fault !== undefined) return reading
  if (end === -1) return { fault: 'the fence around the call is not closed' }
  const rest = `${text.slice(0, opening.index)}${text.slice(end + fence.length)}`.trim()
  if (rest === '') return reading
  const areOffered = reading.calls.every(({ name }) => tools.some((tool) => tool.name === name))
  if (!areOffered) return undefined
  return rest.includes('```') ? { fault: 'only one fence may hold calls' } : { ...reading, rest }
}
