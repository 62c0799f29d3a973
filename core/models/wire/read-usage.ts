import { z } from 'zod'
import { charactersPerToken } from '#domain/tokens.ts'
import type { ModelRequest, TokenUsage } from '#domain/turn.ts'

const Count = z.number().nullish()
/** Of the API's `usage`, what is read. */
export const GivenUsage = z.object({ prompt_tokens: Count, completion_tokens: Count })
export type GivenUsage = z.infer<typeof GivenUsage>

/**
 * The tokens of one exchange. What the server has not counted, or as 0 as some do in streams, or beyond all reason, is
 * estimated at a token for four characters of JSON: a total that leaves requests out would be wrong by more.
 */
export function readUsage(
  given: GivenUsage | null | undefined,
  request: Pick<ModelRequest, 'messages' | 'tools'>,
  reply: object,
): { usage: TokenUsage; isEstimated: boolean } {
  const promptTokens = counted(given?.prompt_tokens)
  const completionTokens = counted(given?.completion_tokens)
  const usage = {
    promptTokens: promptTokens ?? estimated(request.messages) + estimated(request.tools),
    completionTokens: completionTokens ?? estimated(reply),
  }
  return { usage, isEstimated: promptTokens === undefined || completionTokens === undefined }
}

/** No context holds as many; a sum of them is still a whole number. */
const mostTokens = 1_000_000_000

function counted(count: number | null | undefined): number | undefined {
  return typeof count === 'number' && count >= 1 && count <= mostTokens ? Math.round(count) : undefined
}

function estimated(value: object): number {
  return Math.ceil(JSON.stringify(value).length / charactersPerToken)
}
