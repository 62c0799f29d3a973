import type { IncomingMessage, Server } from 'node:http'

export type SlowBodyLimits = { windowMs: number; minBytes: number }

/**
 * Watches the bodies that arrive at `server`. The answer, to be called now and then, names every request whose body
 * brought less than `minBytes` in the `windowMs` since its own last mark, although it was wanted: one that waits here,
 * because nobody reads it yet or the object store is slow, has its buffer full and is left alone. A request is watched
 * until its body has come or its connection is gone, also after an early answer: the rest may hold the connection, too.
 */
export function watchSlowBodies(
  server: Server,
  { windowMs, minBytes }: SlowBodyLimits,
  nowMs: () => number = () => performance.now(),
): () => IncomingMessage[] {
  const marks = new Map<IncomingMessage, { bytes: number; since: number }>()
  server.on('request', (request) => {
    if (request.complete) return
    marks.set(request, { bytes: request.socket.bytesRead, since: nowMs() })
    request.once('close', () => marks.delete(request))
  })
  const isSlow = (request: IncomingMessage): boolean => {
    const mark = marks.get(request)
    const now = nowMs()
    if (mark === undefined || now - mark.since < windowMs) return false
    const { bytesRead } = request.socket
    marks.set(request, { bytes: bytesRead, since: now })
    return isWanted(request) && bytesRead - mark.bytes < minBytes
  }
  return () => {
    for (const request of marks.keys()) if (request.complete) marks.delete(request)
    return [...marks.keys()].filter(isSlow)
  }
}

function isWanted(request: IncomingMessage): boolean {
  return request.readableLength < request.readableHighWaterMark
}
