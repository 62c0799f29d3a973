import { z } from 'zod'
import { openRandom } from '#platform/seeded-random.ts'

/** What keeps a reply from coming, then mistakes of models, then what real servers do to a reply. */
export const faultNames = [
  'latency',
  '403',
  '429',
  '503',
  '529',
  'reset',
  'hang',
  'truncated',
  'json_in_content',
  'malformed_arguments',
  'unknown_tool',
  'no_tool_call',
  'oversized',
  'hermes_in_content',
  'functiongemma_in_content',
  'qwen_in_content',
  'cut_call_in_content',
  'parallel_calls',
  'no_done',
  'crlf',
  'split_bytes',
  'no_usage',
  'stall',
  'error_in_stream',
] as const
export const FaultName = z.enum(faultNames)
export type FaultName = z.infer<typeof FaultName>

/** The share of requests that get each fault; shares add up to at most 1. */
export const FaultShares = z
  .partialRecord(FaultName, z.number().min(0).max(1))
  .refine((shares) => Object.values(shares).reduce((sum, share) => sum + share, 0) <= 1, 'shares add up to more than 1')
export type FaultShares = z.infer<typeof FaultShares>

export const FaultPlan = z.strictObject({
  shares: FaultShares.default({}),
  seed: z.int().min(0).default(1),
  /** Limits the shares to so many requests from now on; when it is absent, they apply to all. */
  times: z.int().min(0).optional(),
})
export type FaultPlan = z.infer<typeof FaultPlan>

const faultMark = /\[\[rehearsal:fault=(\w+)\]\]/

export function markedFault(text: string): FaultName | undefined {
  return FaultName.safeParse(faultMark.exec(text)?.[1]).data
}

export function openFaultDraw(plan: FaultPlan): () => FaultName | undefined {
  const random = openRandom(plan.seed)
  let left = plan.times ?? Infinity
  return () => {
    if (left <= 0) return undefined
    left -= 1
    let point = random.fraction()
    for (const name of faultNames) {
      point -= plan.shares[name] ?? 0
      if (point < 0) return name
    }
    return undefined
  }
}
