import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import { AppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import { boundPort, closeServer } from '#platform/http-health.ts'
import type { ApiEnv } from './api-env.ts'

export type ServedApp = {
  url: string
  /** Stops accepting, lets open requests finish for up to `graceMs`, then cuts them off. */
  close(): Promise<void>
}

/** An upload may take this long; Node's own limit of five minutes is too short for a large archive on a slow line. */
const requestMs = 30 * 60 * 1000

/** Serves `app` on a port (0: any free one). CONFIG_006 when the port is taken or may not be used. */
export async function serveApp(
  app: Hono<ApiEnv>,
  options: { host: string; port: number; graceMs: number },
): Promise<ServedApp> {
  const { host, port, graceMs } = options
  const answer = getRequestListener(app.fetch)
  const server = createServer({ requestTimeout: requestMs }, (request, response) => {
    response.once('close', () => setImmediate(dropIdle))
    void answer(request, response)
  })
  // Once stopping, a connection kept alive by its client would hold the close for seconds after its last answer.
  const dropIdle = () => {
    if (!server.listening) server.closeIdleConnections()
  }
  server.listen(port, host)
  await once(server, 'listening').catch((error: unknown) => {
    throw notListening(options, error)
  })
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort(server)}`,
    close: () => stop(server, graceMs),
  }
}

function notListening({ host, port }: { host: string; port: number }, cause: unknown): AppError {
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
