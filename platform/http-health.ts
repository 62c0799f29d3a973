import { createServer, type Server } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { once } from 'node:events'
import { AppError } from '#domain/error.ts'
import type { Readiness } from './readiness.ts'

export type Health = { port: number; close(): Promise<void> }

/** `port` 0 stands for any free one. */
export type HealthAddress = { host: string; port: number }

type Watched = { readiness: Readiness; metrics: { text(): Promise<string>; contentType: string } }

/**
 * Answers `/healthz`, `/readyz` (503 when a needed part cannot be used) and `/metrics`, without a token: the address must not be
 * open to everybody. CONFIG_006 for one that cannot be used.
 */
export async function openHealth({ host, port }: HealthAddress, { readiness, metrics }: Watched): Promise<Health> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (request.url === '/healthz') return answer(200, { status: 'ok' })
    if (request.url === '/metrics') {
      metrics.text().then(
        (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
        () => answer(500, { status: 'the metrics cannot be read' }),
      )
      return undefined
    }
    if (request.url !== '/readyz') return answer(404, { status: 'not found' })
    void readiness().then((answered) => answer(answered.status === 'ready' ? 200 : 503, answered))
    return undefined
  })
  server.listen(port, host)
  await once(server, 'listening').catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    const setting = 'REMORA_HEALTH_HOST and the setting of its port choose another one'
    throw new AppError('CONFIG_006', `the address of the health checks cannot be used (${reason}): ${setting}`)
  })
  return { port: boundPort(server), close: () => closeServer(server) }
}

export function boundPort(server: NetServer): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server listens on no TCP port')
  return address.port
}

export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  await closed
}
