import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import { boundPort } from '#platform/http-health.ts'
import type { Answer } from './answers.ts'
import type { ApiRequest } from './answer-request.ts'
import { type Faults, type Moment, instead } from './network-faults.ts'

/** One request and its answer, as it was recorded. */
export type RecordedRequest = {
  number: number
  method: string
  path: string
  query: string
  body: string
  /** Undefined when the connection was cut. */
  status: number | undefined
}

export type ServerParts = {
  faults: Faults
  requests: RecordedRequest[]
  /** Called before and after the effect of each request, and awaited. */
  watch(moment: Moment): void | Promise<void>
  answer(request: ApiRequest): Promise<Answer>
  /** What git tells of a push, which no client asks and nothing disturbs. Undefined: it is something else. */
  push(request: ApiRequest): Promise<Answer> | undefined
  now(): Date
}

const mostBodyBytes = 128 * 1024 * 1024

/** An HTTP server on this machine before the API, with the faults that a network has. */
export async function openServer(parts: ServerParts): Promise<{ origin: string; close(): Promise<void> }> {
  const closing = new AbortController()
  const server = createServer((request, response) => {
    serve(parts, { request, response, signal: closing.signal }).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${boundPort(server)}`,
    async close() {
      closing.abort(new Error('this GitHub was closed'))
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

type Exchange = { request: IncomingMessage; response: ServerResponse; signal: AbortSignal }

async function serve(parts: ServerParts, { request, response, signal }: Exchange): Promise<void> {
  const asked = await read(request)
  const push = parts.push(asked)
  if (push !== undefined) return send(response, await push, parts.now())
  const { method, path, query, body } = asked
  const number = parts.requests.length + 1
  const record: RecordedRequest = {
    number,
    method,
    path,
    query: query.toString(),
    body: body.toString(),
    status: undefined,
  }
  parts.requests.push(record)
  const fault = parts.faults.next(method, path)
  await parts.watch({ method, path, number, when: 'before' })
  const early = await instead(fault, signal)
  if (early === 'reset') return reset(response)
  const answer = early ?? (await parts.answer(asked))
  await parts.watch({ method, path, number, when: 'after' })
  if (fault?.how === 'reset_after') return reset(response)
  record.status = answer.status
  return send(response, answer, parts.now())
}

async function read(request: IncomingMessage): Promise<ApiRequest> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > mostBodyBytes) throw new Error('the body is too large')
    chunks.push(Buffer.from(chunk))
  }
  const url = new URL(request.url ?? '/', 'http://localhost')
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
  return {
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    headers: Object.fromEntries(headers),
    body: Buffer.concat(chunks),
  }
}

function send(response: ServerResponse, { status, body, bytes, headers = {} }: Answer, now: Date): void {
  const type = bytes === undefined ? 'application/json; charset=utf-8' : 'application/octet-stream'
  const content = bytes ?? (body === undefined ? undefined : JSON.stringify(body))
  const length = content === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(content) }
  response.sendDate = false
  response.writeHead(status, { date: now.toUTCString(), 'x-github-request-id': 'FA4E:0', ...length, ...headers })
  response.end(content)
}

function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy()
}
