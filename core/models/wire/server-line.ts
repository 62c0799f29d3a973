import { AppError } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import type { ModelRequest } from '#domain/turn.ts'
import { after, msSince } from '#platform/clock.ts'
import type { OpenAiClient } from '../http/openai-client.ts'
import { StreamedResponse } from '../http/streamed-response.ts'
import type { Capabilities } from './capabilities.ts'
import { isTooDeep, maxReplyDepth } from '../http/reply-depth.ts'
import { serverError } from './server-error.ts'
import { openCompletionStream } from './stream/read-completion-stream.ts'
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
  /** One `POST /chat/completions`, unretried, within the client's time limit. */
  ask(request: ModelRequest, capabilities: Capabilities, signal: AbortSignal): Promise<Asked>
}

/** With `stream` answers are asked for piece by piece. How one comes is up to the server: both are read either way. */
export function openServerLine({ client, stream }: { client: OpenAiClient; stream: boolean }): ServerLine {
  return {
    async ask(request, capabilities, signal) {
      const { body: chat, workarounds } = toOpenAi(request, capabilities, { stream })
      const body = JSON.stringify(chat)
      const sentAt = performance.now()
      // The raw response: the client's own body parsing adds a second timer and a race for what is already in memory.
      const response = await client.post('/chat/completions', { body, signal }).asResponse()
      const isStream = response instanceof StreamedResponse
      const answer = isStream
        ? await readStream(response, { client, sentAt, signal })
        : readText(await response.text(), client)
      return { ...answer, workarounds }
    },
  }
}

/**
 * The client's own limit ends when the answer begins; this one bounds the whole of it. A reply that is whole is taken,
 * whatever else becomes of its stream, unless the caller has given up.
 */
async function readStream(
  response: StreamedResponse,
  { client, sentAt, signal }: { client: OpenAiClient; sentAt: number; signal: AbortSignal },
): Promise<Omit<Asked, 'workarounds'>> {
  const stream = openCompletionStream((said) => client.shown(said))
  const late = new AppError('AGENT_002', 'the answer did not end in time', { phase: 'model' })
  const inTime = after(client.timeout - msSince(sentAt), () => response.abort(late))
  try {
    await response.read(stream.feed)
  } catch (error) {
    if (signal.aborted || !stream.isFinished()) throw error
  } finally {
    inTime()
  }
  const raw = stream.end()
  const firstTokenAt = stream.firstTokenAt()
  return firstTokenAt === undefined ? { raw } : { raw, firstTokenMs: Math.round((firstTokenAt - sentAt) * 10) / 10 }
}

/** An answer that came as a whole: JSON, or events that were not said to be a stream. */
function readText(text: string, client: OpenAiClient): { raw: unknown } {
  if (/^\s*(?:data|event|id|retry)?:/.test(text)) {
    const stream = openCompletionStream((said) => client.shown(said))
    stream.feed(text)
    return { raw: stream.end() }
  }
  const raw = parseJson(text)
  if (raw === undefined) throw broken('the reply is not JSON')
  if (isTooDeep(raw)) throw broken(`the reply is nested deeper than ${maxReplyDepth}`)
  const error = serverError(raw, (said) => client.shown(said))
  if (error !== undefined) throw error
  return { raw }
}

function broken(message: string): AppError {
  return new AppError('AGENT_008', message, { phase: 'model' })
}
