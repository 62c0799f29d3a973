import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { parseJson } from '#domain/json.ts'
import { AppError } from '#domain/error.ts'
import type { Appetite } from '../../http/streamed-response.ts'
import { isTooDeep, maxReplyDepth } from '../../http/reply-depth.ts'
import { serverError } from '../server-error.ts'
import { Chunk, openChunkAssembler } from './assemble-chunks.ts'

export type CompletionStream = {
  /**
   * Takes text cut anywhere, and throws at none: what is wrong with it is thrown by `end`. `rest` once the reply is whole and
   * only its usage may follow, `enough` once nothing that follows can matter.
   */
  feed(text: string): Appetite
  /** `performance.now()` when the first thing the model wrote had come. */
  firstTokenAt(): number | undefined
  /** Whether the reply itself is whole, whatever becomes of the stream. */
  isFinished(): boolean
  /**
   * The completion of a stream that has ended: with `[DONE]`, or without it once a `finish_reason` has come. Throws
   * AGENT_008 for any other, and what the server said went wrong.
   */
  end(): object
}

/** Lines for keeping a connection alive, should a server send them as data; one a second for a quarter of an hour. */
const maxKeepAlives = 900

/** Reads the server-sent events of one streamed chat completion. `shown` makes of a server's words what may be told. */
export function openCompletionStream(shown = (said: unknown): unknown => said): CompletionStream {
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
      isDone = true // the reply is whole, whatever goes wrong behind it
      fault = undefined
    }
    if (firstTokenAt === undefined && assembler.hasToken()) firstTokenAt = performance.now()
  }
  const addPart = (data: string): Error | undefined => {
    const value = parseJson(data)
    // What would be a piece of the reply is JSON that has begun, and is missed.
    if (value === undefined && !/^\s*[{["]/.test(data) && ++keepAlives <= maxKeepAlives) return undefined
    if (isTooDeep(value)) return broken(`a part of the stream is nested deeper than ${maxReplyDepth}`)
    const error = serverError(value, shown)
    if (error !== undefined) return error
    const chunk = Chunk.safeParse(value)
    if (!chunk.success) return broken('a part of the stream is no chunk of a completion')
    assembler.add(chunk.data)
    return undefined
  }
  const parser = createParser({ onEvent: take })
  return {
    feed(text) {
      parser.feed(text)
      if (isDone || fault !== undefined) return 'enough'
      return assembler.isFinished() ? 'rest' : 'more'
    },
    firstTokenAt: () => firstTokenAt,
    isFinished: () => fault === undefined && assembler.isFinished(),
    end() {
      parser.feed('\n\n') // some servers leave out the empty line after their last event
      if (fault !== undefined) throw fault
      if (!isDone && !assembler.isFinished()) throw broken('the stream ended before the reply did')
      const completion = assembler.completion()
      if (completion === undefined) throw broken('the stream held no reply')
      return completion
    },
  }
}

function broken(message: string): AppError {
  return new AppError('AGENT_008', message, { phase: 'model' })
}
