import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { type Connection, NoAnswer, RemoraProblem } from './connection.ts'
import { pause, watchSilence } from './timers.ts'
import type { EventCategory, Frame } from './wire.ts'

/**
 * A stream tells one of these. `connected`: after each connection, 0 missed, or how many events follow that happened meanwhile. `resync`: the events
 * after the one that was asked for are past their retention, or lost: read the run anew. `end`: the run has ended. The last two end the stream.
 */
export type StreamFrame = Exclude<Frame, { type: 'ping' | 'pong' }>

export type StreamOptions = {
  /** Is the `id` of the last frame that you have; without it the stream begins with the first event. */
  after?: string | undefined
  /** Only events of these categories; without it, all. */
  categories?: readonly EventCategory[] | undefined
  signal?: AbortSignal | undefined
}

const maxFailuresInRow = 6
const firstPauseMs = 200
/** The service sends something every 15 s: a connection without a byte for so long has broken without a sign. */
const silentMs = 45_000
/** A connection that has lasted so long was a good one. */
const steadyMs = 10_000

/**
 * Yields the frames of the live stream at `path`, each event once and in order: a stream that breaks off is continued after the last event.
 * A service that does not answer is asked again for about 12 s, then what went wrong is thrown.
 */
export async function* readStream(
  connection: Connection,
  path: string,
  { after, categories, signal }: StreamOptions,
): AsyncGenerator<StreamFrame, void, undefined> {
  let last = after
  for (let failures = 0; ; failures += 1) {
    const openedAt = performance.now()
    let fault: Error = new NoAnswer('the stream breaks off again and again', {})
    try {
      for await (const frame of openFrames(connection, path, { after: last, categories, signal })) {
        if (frame.type === 'connected') last = frame.id ?? last
        if (frame.type === 'event') {
          last = frame.id
          failures = 0
        }
        yield frame
        if (frame.type === 'end' || frame.type === 'resync') return
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (!mayPass(error)) throw error
      fault = error
    }
    if (performance.now() - openedAt > steadyMs) failures = 0
    if (failures >= maxFailuresInRow) throw fault
    await pause(firstPauseMs * 2 ** failures, signal)
  }
}

function mayPass(error: unknown): error is Error {
  if (error instanceof NoAnswer) return true
  return error instanceof RemoraProblem && (error.status > 500 || error.status === 408 || error.status === 429)
}

/** Yields the frames of one connection until it ends. */
async function* openFrames(
  connection: Connection,
  path: string,
  { after, categories, signal: given }: StreamOptions,
): AsyncGenerator<StreamFrame, void, undefined> {
  const over = new AbortController()
  const signal = given === undefined ? over.signal : AbortSignal.any([given, over.signal])
  const silence = watchSilence(silentMs, () => over.abort(new NoAnswer('the stream has fallen silent', {})))
  const query = { category: categories?.join() }
  const headers = { accept: 'text/event-stream', ...(after !== undefined && { 'last-event-id': after }) }
  try {
    const answer = await connection.send(path, { query, headers, signal })
    const frames: StreamFrame[] = []
    const parser = createParser({ onEvent: (message) => frames.push(...framesOf(message)) })
    for await (const text of connection.parts(answer, signal)) {
      silence.heard()
      parser.feed(text)
      yield* frames.splice(0)
    }
  } finally {
    silence.stop()
    over.abort()
  }
}

/** Frames of other types than these are of a newer service. */
function framesOf({ event: type, id = '', data }: EventSourceMessage): StreamFrame[] {
  if (type === undefined) return [{ type: 'event', id, event: JSON.parse(data) }]
  return type === 'connected' || type === 'resync' || type === 'end' ? [{ ...JSON.parse(data), type }] : []
}
