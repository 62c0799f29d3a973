import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError, type ErrorCode } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { problemHeaders, problemOf, safeHeaders } from './problem.ts'

export type ConnectionRefusals = {
  /** Answers what cannot become a request, or takes too long to, with a problem, and ends the connection. */
  refuse(socket: Duplex, code: ErrorCode, detail: string): void
}

/** Destroyed at once, a connection with unread input is reset, and the answer may never be seen. */
const lingerMs = 500

const faults: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['HTTP_005', 'The headers are longer than 16 KiB.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['HTTP_005', 'The extensions of a chunk are too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['HTTP_006', 'The request took too long to arrive.'],
}

type Exchange = { request: IncomingMessage; response: ServerResponse }

/**
 * Gives `server` problem answers of its own where Node refuses a connection before there is a request: 400, 408, 431.
 * A connection on which the answer would come after another to the same request, or in place of an earlier one's, is only
 * cut off. What a client still sends after its refusal is passed over.
 */
export function refuseBrokenRequests(server: Server, log: Pick<Log, 'info'>): ConnectionRefusals {
  const exchanges = new WeakMap<Duplex, Exchange[]>()
  const refused = new WeakSet<Duplex>()
  const openOn = (socket: Duplex) => (exchanges.get(socket) ?? []).filter((exchange) => !isOver(exchange))
  server.on('request', (request, response) => {
    exchanges.set(request.socket, [...openOn(request.socket), { request, response }])
  })
  const refuse: ConnectionRefusals['refuse'] = (socket, code, detail) => {
    if (refused.has(socket)) return
    refused.add(socket)
    const error = new AppError(code, detail, { detail })
    log.info('request refused', { status: error.status, error_code: code })
    if (!socket.writable || !isFree(openOn(socket))) return void socket.destroy()
    socket.end(rawAnswer(error))
    after(lingerMs, () => socket.destroy())
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const code = error.code ?? ''
    if (code === 'ECONNRESET' || code === 'EPIPE') return void socket.destroy()
    const [known, detail] = faults[code] ?? (['HTTP_004', 'This is not a valid HTTP/1.1 request.'] as const)
    refuse(socket, known, detail)
  })
  server.on('checkExpectation', (request, response) => {
    const error = new AppError('HTTP_008', 'Only "Expect: 100-continue" is understood.')
    answerProblem(response, error)
    after(lingerMs, () => request.socket.destroy())
  })
  return { refuse }
}

function isOver({ request, response }: Exchange): boolean {
  return request.complete && response.writableFinished
}

/** Whether what is written next is the answer to the last request, or to what should have become one. */
function isFree(open: readonly Exchange[]): boolean {
  return open.length === 0 || (open.length === 1 && open[0]?.response.headersSent === false)
}

/** The last answer of a connection whose request no route will see. */
function answerProblem(response: ServerResponse, error: AppError): void {
  const body = JSON.stringify(problemOf(error))
  response.writeHead(error.status, closingHeaders(error, body)).end(body)
}

function closingHeaders({ status }: AppError, body: string): Record<string, string> {
  return {
    ...problemHeaders(status),
    ...safeHeaders,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
}

function rawAnswer(error: AppError): string {
  const body = JSON.stringify(problemOf(error))
  const lines = Object.entries(closingHeaders(error, body)).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}\r\n${lines.join('')}\r\n${body}`
}

type SlowBodyLimits = { windowMs: number; minBytes: number }

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
