import type { IncomingMessage } from 'node:http'

/**
 * The body as text, or undefined when it is longer than `maxBytes`. Rejects when the client goes away. Listens for
 * chunks rather than iterating, which costs half as much: the bench measures against this server.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
    })
    request.once('end', () => resolve(size <= maxBytes ? Buffer.concat(chunks).toString() : undefined))
    request.once('error', reject)
  })
}
