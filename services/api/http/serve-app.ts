import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server, type IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, RequestError } from '@hono/node-server'
import type { Hono } from 'hono'
import { AppError } from '#domain/error.ts'
import { after, repeatEvery } from '#platform/clock.ts'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { openLog, type Log } from '#platform/log.ts'
import type { ApiEnv } from './api-env.ts'
import { problemHeaders, problemOf } from './problem.ts'
import { refuseBrokenRequests, watchSlowBodies } from './refuse-connection.ts'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'

export type ServedApp = {
  url: string
  /** Stops accepting, lets open requests finish for up to `graceMs`, then cuts them off. */
  close(): Promise<void>
}

const usualLimits = {
  /** Further connections are closed at once. */
  maxConnections: 1000,
  headersMs: 15_000,
  /** Node's default of five minutes is too short for a large archive on a slow connection. */
  requestMs: 30 * 60 * 1000,
  /** A body must bring `minBodyBytes` in this time, from the end of the headers on. It is checked four times as often. */
  bodyWindowMs: 15_000,
  minBodyBytes: 16 * 1024,
  /** A connection without any traffic for so long is closed. Event streams send heartbeats more often. */
  idleMs: 120_000,
  keepAliveMs: 5_000,
}
export type ServeLimits = typeof usualLimits

export type ServeOptions = {
  host: string
  port: number
  graceMs: number
  limits?: Partial<ServeLimits>
  log?: ServeLog
}

type ServeLog = Pick<Log, 'info' | 'error'>

/** Port 0 is any free one. CONFIG_006 when the port is taken or may not be used. */
export async function serveApp(app: Hono<ApiEnv>, options: ServeOptions): Promise<ServedApp> {
  const { host, port, graceMs, log = openLog({ service: 'api', level: 'silent' }) } = options
  const limits = { ...usualLimits, ...options.limits }
  const server = openServer(app, limits, log)
  const refuse = refuseBrokenRequests(server, log)
  const { bodyWindowMs: windowMs, minBodyBytes: minBytes } = limits
  const slowBodies = watchSlowBodies(server, { windowMs, minBytes })
  const endWatch = repeatEvery(windowMs / 4, async () => {
    for (const { socket } of slowBodies()) refuse(socket, 'HTTP_006', 'The body came too slowly.')
  })
  // Node's own 511 would leave some of a burst waiting for seconds, until their system tries to connect again.
  server.listen({ port, host, backlog: limits.maxConnections })
  await once(server, 'listening').catch(async (error: unknown) => {
    await endWatch()
    throw notListening(options, error)
  })
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort(server)}`,
    close: async () => {
      await stop(server, graceMs)
      await endWatch()
    },
  }
}

function openServer(
  app: Hono<ApiEnv>,
  { maxConnections, headersMs, requestMs, idleMs, keepAliveMs }: ServeLimits,
  log: ServeLog,
): Server {
  const errorHandler = answerBroken(log)
  const answer = getRequestListener(app.fetch, { errorHandler })
  const timeouts = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.max(100, Math.min(headersMs / 3, 5_000)),
  }
  // A missing Host is answered below, with a problem.
  const options = { ...timeouts, requireHostHeader: false, shouldUpgradeCallback: wantsWebSocket }
  const server = createServer(options, (request, response) => {
    response.once('close', () => setImmediate(dropIdle))
    void answer(request, response)
  })
  serveUpgrades(server, app.fetch, errorHandler)
  server.maxConnections = maxConnections
  server.setTimeout(idleMs)
  // Once stopping, a connection kept alive by its client would hold the close for seconds after its last answer.
  const dropIdle = () => {
    if (!server.listening) server.closeIdleConnections()
  }
  return server
}

/** A Host or address may be wrong in valid HTTP. Any other error here is a bug that no route has answered; it is logged. */
function answerBroken(log: ServeLog): (cause: unknown) => Response {
  return (cause) => {
    const requestId = randomUUID()
    const error =
      cause instanceof RequestError
        ? new AppError('HTTP_004', 'The Host or the address of the request is not valid.', { cause })
        : new AppError('HTTP_007', 'Unexpected error.', { cause })
    const { status, code } = error
    if (status < 500) log.info('request refused', { status, error_code: code, request_id: requestId })
    else log.error('request failed', { status, error_code: code, request_id: requestId, error: cause })
    const headers = { ...problemHeaders(status), 'x-request-id': requestId }
    return new Response(JSON.stringify(problemOf(error, { requestId })), { status, headers })
  }
}

function notListening({ host, port }: ServeOptions, cause: unknown): AppError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  const fault = code === 'EADDRINUSE' ? `port ${port} is taken` : `${host}:${port} cannot be listened on (${code})`
  return new AppError('CONFIG_006', `${fault}: use --port or REMORA_API_PORT for another one`, { cause })
}

async function stop(server: Server, graceMs: number): Promise<void> {
  const cancelCut = after(graceMs, () => server.closeAllConnections())
  try {
    await closeServer(server)
  } finally {
    cancelCut()
  }
}

const limits = {
  /** A client that sends a longer frame is cut with code 1009. */
  frameBytes: 4 * 1024,
  /** A client that does not close from its side is cut after so long. */
  closeMs: 2_000,
  /** A refusal has so long to reach the client. */
  lingerMs: 500,
}
/** A browser offers this beside its token, so that no answer repeats the token. */
const ownProtocol = 'remora'

const handshakeOptions = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false, // its memory for each reader would be more than the frames
  maxPayload: limits.frameBytes,
  closeTimeout: limits.closeMs,
  autoPong: false, // the answers to a client that never reads would pile up
  handleProtocols: (offered: ReadonlySet<string>) =>
    offered.has(ownProtocol) ? ownProtocol : ([...offered][0] ?? false),
}

/** Is true for the requests that `serveUpgrades` is given; any other is answered as if it did not ask for another protocol. */
function wantsWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * Lets a route change over to a WebSocket by `c.env.upgrade`: what it answers then goes nowhere. What refuses the request before, or a
 * route that has no WebSocket, answers as always, and the connection is closed.
 */
function serveUpgrades(server: Server, fetch: Hono<ApiEnv>['fetch'], errorHandler: (cause: unknown) => Response): void {
  const handshakes = new WebSocketServer(handshakeOptions)
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    const outgoing = new ServerResponse(request)
    outgoing.shouldKeepAlive = false
    outgoing.assignSocket(request.socket)
    outgoing.once('finish', () => {
      socket.end()
      after(limits.lingerMs, () => socket.destroy())
    })
    const upgrade = async () => {
      const opened = shakeHands(handshakes, [request, socket, head])
      outgoing.detachSocket(request.socket)
      return { socket: opened, connection: socket }
    }
    const listen = getRequestListener((asked) => fetch(asked, { incoming: request, outgoing, upgrade }), {
      errorHandler,
    })
    void listen(request, outgoing)
  })
}

/** HTTP_004 when the headers of the handshake are wrong. */
function shakeHands(
  handshakes: WebSocketServer,
  [request, socket, head]: readonly [IncomingMessage, Duplex, Buffer],
): WebSocket {
  const result: { socket?: WebSocket; fault?: Error } = {}
  const note = (fault: Error) => void (result.fault = fault)
  handshakes.once('wsClientError', note)
  handshakes.handleUpgrade(request, socket, head, (opened) => void (result.socket = opened))
  handshakes.off('wsClientError', note)
  if (result.socket !== undefined) return result.socket
  throw new AppError(
    'HTTP_004',
    `This is no handshake of a WebSocket: ${result.fault?.message ?? 'the client has gone'}.`,
  )
}
