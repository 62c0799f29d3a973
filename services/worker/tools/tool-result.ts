import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import type { ToolResult } from '#domain/turn.ts'

/** The answer as scripts write it (contract.md §6). */
const WireResult = z.object({
  result: z.unknown(),
  summary: z.string(),
  knowledge_delta: z.record(z.string(), z.unknown()).nullish(),
  outcome: z.enum(['success', 'partial', 'error']),
  error: z.string().nullish(),
})

/**
 * A script's answer. One that is text may hold that shape as JSON, whole or in its last line, as programs print it;
 * anything else off the shape is kept whole, as `raw_output`, and counts as partial.
 */
export function toolResult(value: unknown): ToolResult {
  const parsed = WireResult.safeParse(typeof value === 'string' ? writtenIn(value) : value)
  if (!parsed.success) {
    return {
      outcome: 'partial',
      result: { raw_output: value },
      summary: 'the tool gave no summary',
      knowledgeDelta: {},
    }
  }
  const { result, summary, outcome, knowledge_delta: knowledgeDelta, error } = parsed.data
  const base = { outcome, result, summary, knowledgeDelta: knowledgeDelta ?? {} }
  return typeof error === 'string' ? { ...base, error } : base
}

/** The JSON value a text is, or else its last line that is not blank; undefined when neither is. */
function writtenIn(text: string): unknown {
  const whole = text.trim()
  return parseJson(whole) ?? parseJson(whole.slice(whole.lastIndexOf('\n') + 1))
}

/** What of a script's answer is off that shape, one fault a key; empty: nothing is. */
export function resultFaults(value: unknown): string[] {
  const parsed = WireResult.safeParse(value)
  return parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '))
}
