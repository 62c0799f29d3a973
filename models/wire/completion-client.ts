import { parseJson } from '#domain/json.ts'
import type { ModelRequest } from '#domain/turn.ts'
import { after, msSince } from '#platform/clock.ts'
import { isTooDeep, maxReplyDepth, type OpenAiClient } from '../http/openai-client.ts'
import { StreamedResponse } from '../http/streamed-response.ts'
import type { Capabilities } from './capabilities.ts'
import { brokenReply, LateReply, serverError } from './try-failure.ts'
import { openCompletionStream } from './stream/read-completion-stream.ts'
import { toOpenAi } from './to-openai.ts'

export type ServerAnswer = {
  raw: unknown
  /** Is measured from sending the request to the first part of a streamed answer. */
  firstTokenMs?: number
  workarounds: readonly string[]
}

export type CompletionClient = ReturnType<typeof openCompletionClient>

/** The server may answer with a stream or without one, whatever `stream` asks for. */
export function openCompletionClient({ client, stream }: { client: OpenAiClient; stream: boolean }) {
  return {
    async ask(request: ModelRequest, capabilities: Capabilities, signal: AbortSignal): Promise<ServerAnswer> {
      const { body: chat, workarounds } = toOpenAi(request, capabilities, { stream })
      const body = JSON.stringify(chat)
      const sentAt = performance.now()
      // The raw response: the client's own body parsing adds a second timer and a race for what is already in memory.
      const response = await client.post('/chat/completions', { body, signal }).asResponse()
      const isStream = response instanceof StreamedResponse
      const answer = isStream
        ? await readStream(response, client, sentAt, signal)
        : readText(await response.text(), client)
      return { ...answer, workarounds }
    },
  }
}

/** Bounds the whole answer. A reply that is whole counts even if its stream breaks later. */
async function readStream(response: StreamedResponse, client: OpenAiClient, sentAt: number, signal: AbortSignal) {
  const stream = openCompletionStream((part) => client.shown(part))
  const stopTimer = after(client.timeout - msSince(sentAt), () => response.abort(new LateReply()))
  try {
    await response.read(stream.feed)
  } catch (error) {
    if (signal.aborted || !stream.isFinished()) throw error
  } finally {
    stopTimer()
  }
  const raw = stream.end()
  const firstTokenAt = stream.firstTokenAt()
  return firstTokenAt === undefined ? { raw } : { raw, firstTokenMs: Math.round((firstTokenAt - sentAt) * 10) / 10 }
}

/** An answer that arrived as a whole may still be events, without the content type of a stream. */
function readText(text: string, client: OpenAiClient): { raw: unknown } {
  if (/^\s*(?:data|event|id|retry)?:/.test(text)) {
    const stream = openCompletionStream((part) => client.shown(part))
    stream.feed(text)
    return { raw: stream.end() }
  }
  const raw = parseJson(text)
  if (raw === undefined) throw brokenReply('the reply is not JSON')
  if (isTooDeep(raw)) throw brokenReply(`the reply is nested deeper than ${maxReplyDepth}`)
  const error = serverError(raw, (part) => client.shown(part))
  if (error !== undefined) throw error
  return { raw }
}
