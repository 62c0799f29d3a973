import type { IncomingMessage, Server } from 'node:http'
import { repeatEvery } from '#platform/clock.ts'

export type SlowBodyLimits = { windowMs: number; minBytes: number }

/**
 * Tells of every request whose body brought less than `minBytes` within `windowMs` although it was wanted: one that
 * waits here, because nobody reads it yet or the object store is slow, has its buffer full and is left alone. The answer
 * ends the watch.
 */
export function watchSlowBodies(
  server: Server,
  { windowMs, minBytes }: SlowBodyLimits,
  onSlow: (request: IncomingMessage) => void,
): () => Promise<void> {
  const arriving = new Map<IncomingMessage, number>()
  server.on('request', (request) => {
    if (request.complete) return
    arriving.set(request, request.socket.bytesRead)
    request.once('close', () => arriving.delete(request))
  })
  return repeatEvery(windowMs, async () => {
    for (const [request, before] of arriving) {
      const { bytesRead } = request.socket
      if (request.complete) arriving.delete(request)
      else if (isWanted(request) && bytesRead - before < minBytes) onSlow(request)
      else arriving.set(request, bytesRead)
    }
  })
}

function isWanted(request: IncomingMessage): boolean {
  return request.readableLength < request.readableHighWaterMark
}
