import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { CutReply } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import { isTooDeep, maxReplyDepth } from '../../http/openai-client.ts'
import type { StreamDemand } from '../../http/streamed-response.ts'
import { brokenReply, serverError } from '../try-failure.ts'
import { Chunk, openChunkAssembler } from './assemble-chunks.ts'

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
