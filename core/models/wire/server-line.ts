import { AppError } from '#domain/error.ts'
import type { ModelRequest } from '#domain/turn.ts'
import type { OpenAiClient } from '../http/openai-client.ts'
import type { Capabilities } from '../servers/capabilities.ts'
import { toOpenAi } from './to-openai.ts'

/** What a server answered, in the form of a chat completion that is not streamed. */
export type Asked = {
  raw: unknown
  /** From sending until the first part of a streamed answer. */
  firstTokenMs?: number
  /** What of the request the server cannot do, and was asked for another way. */
  workarounds: readonly string[]
}

export type ServerLine = {
  /** One `POST /chat/completions`, unretried. */
  ask(request: ModelRequest, capabilities: Capabilities, signal: AbortSignal): Promise<Asked>
}

export function openServerLine({ client }: { client: OpenAiClient }): ServerLine {
  return {
    async ask(request, capabilities, signal) {
      const { body: chat, workarounds } = toOpenAi(request, capabilities, { stream: false })
      const body = JSON.stringify(chat)
      // The raw response: the client's own body parsing adds a second timer and a race for what is already in memory.
      const response = await client.post('/chat/completions', { body, signal }).asResponse()
      return { raw: parseJson(await response.text()), workarounds }
    },
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new AppError('AGENT_008', 'the reply is not JSON', { cause, phase: 'model' })
  }
}
