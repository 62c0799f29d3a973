import { parseJson } from '#domain/json.ts'
import type { ModelRequest } from '#domain/turn.ts'
import { after, msSince } from '#platform/clock.ts'
import { isTooDeep, maxReplyDepth, type OpenAiClient } from '../http/openai-client.ts'
import { StreamedResponse, type StreamDemand } from '../http/streamed-response.ts'
import type { Capabilities } from './capabilities.ts'
import { brokenReply, LateReply, serverError } from './try-failure.ts'
import { toOpenAi } from './to-openai.ts'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { CutReply } from '#domain/error.ts'
import { Chunk, openChunkAssembler } from './stream/assemble-chunks.ts'

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

const maxKeepAlives = 900

/** Reads the server-sent events of one streamed chat completion. `shown` removes secrets from a server's error. */
export function openCompletionStream(shown = (part: unknown): unknown => part) {
  const assembler = openChunkAssembler()
  let firstTokenAt: number | undefined
  let isDone = false
  let keepAlives = 0
  let fault: Error | undefined
  const take = ({ data }: EventSourceMessage) => {
    if (isDone || fault !== undefined || data.trim() === '') return
    if (data.trim() === '[DONE]') isDone = true
    else fault = addPart(data)
    if (fault !== undefined && assembler.isFinished()) {
      isDone = true // the reply is whole: a fault after it does not matter
      fault = undefined
    }
    if (firstTokenAt === undefined && assembler.hasToken()) firstTokenAt = performance.now()
  }
  const addPart = (data: string): Error | undefined => {
    const value = parseJson(data)
    // JSON that has begun and cannot be parsed is a missing part of the reply; anything else may be a keep-alive.
    if (value === undefined && !/^\s*[{["]/.test(data) && ++keepAlives <= maxKeepAlives) return undefined
    if (isTooDeep(value)) return brokenReply(`a part of the stream is nested deeper than ${maxReplyDepth}`)
    const error = serverError(value, shown)
    if (error !== undefined) return error
    const chunk = Chunk.safeParse(value)
    if (!chunk.success) return brokenReply('a part of the stream is no chunk of a completion')
    assembler.add(chunk.data)
    return undefined
  }
  const parser = createParser({ onEvent: take })
  return {
    /** Takes text cut anywhere; never throws. Returns `rest` once the reply seems whole, `enough` once nothing may follow. */
    feed(text: string): StreamDemand {
      parser.feed(text)
      if (isDone || fault !== undefined) return 'enough'
      return assembler.isFinished() ? 'rest' : 'more'
    },
    firstTokenAt: () => firstTokenAt,
    isFinished: () => fault === undefined && assembler.isFinished(),
    /** Returns the completion, after `[DONE]` or a `finish_reason`; else throws AGENT_008, or the error that the server sent. */
    end(): object {
      parser.feed('\n\n') // some servers omit the empty line after their last event
      if (fault !== undefined) throw fault
      if (!isDone && !assembler.hasReason()) throw new CutReply('the stream ended before the reply did')
      const completion = assembler.completion()
      if (completion === undefined) throw brokenReply('the stream held no reply')
      return completion
    },
  }
}
