import { z } from 'zod'
import { APIError } from 'openai'
import { parseJson } from '#domain/json.ts'
import type { ModelRequest } from '#domain/turn.ts'
import type { Clock } from '#platform/clock.ts'
import type { OpenAiClient } from '../http/openai-client.ts'
import type { Capabilities } from '../wire/capabilities.ts'
import { toOpenAi } from '../wire/to-openai.ts'

const Counted = z.object({ count: z.int().min(1) })
const Tokens = z.object({ tokens: z.array(z.unknown()) })
const Applied = z.object({ prompt: z.string() })

export type PromptCounterDeps = { client: OpenAiClient; timeoutMs: number; clock: Pick<Clock, 'now'> }

/** A server that cannot count is asked again after this time: another may have taken its place. */
const askAgainMs = 10 * 60_000

/**
 * Counts the tokens of a request's prompt as the server makes it, with its template and tools: by vLLM's `/tokenize` of a chat, or by
 * llama.cpp's `/apply-template` and `/tokenize` of a text. Undefined where the server has neither, or does not answer now. Never rejects.
 */
export function openPromptCounter({ client, timeoutMs, clock }: PromptCounterDeps) {
  let askAgainAt = -Infinity
  const ask = async (path: string, body: object): Promise<unknown> => {
    const response = await client.post(`/../${path}`, { body: JSON.stringify(body), timeout: timeoutMs }).asResponse()
    return parseJson(await response.text())
  }
  return async (request: ModelRequest, capabilities: Capabilities): Promise<number | undefined> => {
    if (clock.now() < askAgainAt) return undefined
    const { model, messages, tools } = toOpenAi(request, capabilities, { stream: false }).body
    try {
      const answer = await ask('tokenize', { model, messages, tools })
      const { count } = Counted.safeParse(answer).data ?? {}
      if (count !== undefined) return count
      if (Tokens.safeParse(answer).success) {
        const { prompt: content } = Applied.parse(await ask('apply-template', { messages, tools }))
        return Tokens.parse(await ask('tokenize', { content, add_special: true, parse_special: true })).tokens.length
      }
      askAgainAt = clock.now() + askAgainMs
    } catch (error) {
      const status = error instanceof APIError ? error.status : undefined
      if (status === 404 || status === 405 || status === 501) askAgainAt = clock.now() + askAgainMs
    }
    return undefined
  }
}
