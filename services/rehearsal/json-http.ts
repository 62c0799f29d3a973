import type { IncomingMessage, ServerResponse } from 'node:http'

type Headers = Readonly<Record<string, string>>

export function answerJson(response: ServerResponse, status: number, body: object, headers: Headers = {}): void {
  const text = JSON.stringify(body)
  const own = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  response.writeHead(status, { ...own, ...headers }).end(text)
}

export function answerError(response: ServerResponse, status: number, message: string, headers: Headers = {}): void {
  const type = status === 400 ? 'invalid_request_error' : 'server_error'
  answerJson(response, status, { error: { message, type, param: null, code: String(status) } }, headers)
}

/** Returns undefined for a body longer than `maxBytes`. Listening for chunks costs half of iterating. */
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
