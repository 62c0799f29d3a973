import { z } from 'zod'
import type { ToolResult } from '#domain/turn.ts'

/** The answer as scripts write it (contract.md §6). */
const WireResult = z.object({
  result: z.unknown(),
  summary: z.string(),
  knowledge_delta: z.record(z.string(), z.unknown()).nullish(),
  outcome: z.enum(['success', 'partial', 'error']),
  error: z.string().nullish(),
})

/** A script's answer off that shape is kept whole, under `result`, and counts as partial. */
export function toolResult(value: unknown): ToolResult {
  const parsed = WireResult.safeParse(value)
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

/** What of a script's answer is off that shape, one fault a key; empty: nothing is. */
export function resultFaults(value: unknown): string[] {
  const parsed = WireResult.safeParse(value)
  return parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '))
}
