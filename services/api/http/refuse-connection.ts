import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError, type ErrorCode } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { problemHeaders, problemOf } from './problem.ts'

/** A connection with unread input is reset when it is destroyed at once: the client may never see the answer. */
const lingerMs = 500

const faults: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['HTTP_005', 'The headers are longer than 16 KiB.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['HTTP_005', 'The extensions of a chunk are too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['HTTP_006', 'The request took too long to arrive.'],
}

type Exchange = { request: IncomingMessage; response: ServerResponse }

/** The returned function refuses a connection with a problem, or closes it where that would pass for the answer to another request. */
export function refuseBrokenRequests(server: Server, log: Pick<Log, 'info'>) {
  const exchanges = new WeakMap<Duplex, Exchange[]>()
  const refused = new WeakSet<Duplex>()
  const isOpen = ({ request, response }: Exchange) => !request.complete || !response.writableFinished
  const openOn = (socket: Duplex) => (exchanges.get(socket) ?? []).filter(isOpen)
  server.on('request', (request, response) => {
    exchanges.set(request.socket, [...openOn(request.socket), { request, response }])
  })
  const refuse = (socket: Duplex, code: ErrorCode, detail: string) => {
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
    const body = JSON.stringify(problemOf(error))
    response.writeHead(error.status, closingHeaders(error, body)).end(body)
    after(lingerMs, () => request.socket.destroy())
  })
  return refuse
}

/** Is true when what is written next would be the answer to the last request, or to what should have become one. */
function isFree(open: readonly Exchange[]): boolean {
  return open.length === 0 || (open.length === 1 && open[0]?.response.headersSent === false)
}

function closingHeaders({ status }: AppError, body: string): Record<string, string> {
  return { ...problemHeaders(status), 'content-length': String(Buffer.byteLength(body)), connection: 'close' }
}

function rawAnswer(error: AppError): string {
  const body = JSON.stringify(problemOf(error))
  const lines = Object.entries(closingHeaders(error, body)).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}\r\n${lines.join('')}\r\n${body}`
}

/** Lists requests whose body brought fewer than `minBytes` in the last `windowMs`, also after an early answer. */
export function watchSlowBodies(
  server: Server,
  { windowMs, minBytes }: { windowMs: number; minBytes: number },
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
    const hasRoom = request.readableLength < request.readableHighWaterMark
    return hasRoom && bytesRead - mark.bytes < minBytes
  }
  return () => {
    for (const request of marks.keys()) if (request.complete) marks.delete(request)
    return [...marks.keys()].filter(isSlow)
  }
}
