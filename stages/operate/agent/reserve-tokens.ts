import { AppError } from '#domain/error.ts'
import type { ModelRequest } from '#domain/turn.ts'

export type Reserving = {
  budget: {
    readonly isLimited: boolean
    /** False when they do not fit beside what others have reserved. */
    reserve(tokens: number, signal: AbortSignal): Promise<boolean>
  }
  model: {
    /** Returns the tokens of the prompt as a server counts them, undefined where none can. */
    countPrompt?(request: ModelRequest, signal: AbortSignal): Promise<number | undefined>
  }
}

/**
 * Reserves the most tokens that the request may use, and returns how many; undefined without a budget. A prompt that no server counts has at
 * most as many tokens as bytes. Throws LIMIT_004 when they do not fit now: the attempt is handed back, since it would hold a slot of its
 * worker for as long as others need theirs, and the ledger, which knows what is given back, takes it again in the order of the plan.
 */
export async function reserveTokens(
  request: ModelRequest,
  { budget, model }: Reserving,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (!budget.isLimited) return undefined
  const tokens = ((await model.countPrompt?.(request, signal)) ?? bytesOf(request)) + request.maxTokens
  if (await budget.reserve(tokens, signal)) return tokens
  throw new AppError('LIMIT_004', `a request may use ${tokens} tokens, more than a budget has left now`, {
    phase: 'model',
  })
}

function bytesOf({ messages, tools }: ModelRequest): number {
  return Buffer.byteLength(JSON.stringify({ messages, tools }))
}
