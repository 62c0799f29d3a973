import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import { type WebSocket, WebSocketServer } from 'ws'
import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import type { ApiEnv } from './api-env.ts'

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
export function wantsWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * Lets a route change over to a WebSocket by `c.env.upgrade`: what it answers then goes nowhere. What refuses the request before, or a
 * route that has no WebSocket, answers as always, and the connection is closed.
 */
export function serveUpgrades(
  server: Server,
  fetch: Hono<ApiEnv>['fetch'],
  errorHandler: (cause: unknown) => Response,
): void {
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
