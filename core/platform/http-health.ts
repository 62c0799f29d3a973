import { createServer, type Server } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { once } from 'node:events'
import { openReadiness, type PartChecks } from './readiness.ts'

export type Health = { port: number; close(): Promise<void> }

/** For services without an API: `/healthz` is 200; `/readyz` 200, or 503 when one of the `needed` parts cannot be used. */
export async function openHealth(port: number, needed: PartChecks, shown?: PartChecks): Promise<Health> {
  const readiness = openReadiness(needed, shown)
  const server = createServer((request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (request.url === '/healthz') return answer(200, { status: 'ok' })
    if (request.url !== '/readyz') return answer(404, { status: 'not found' })
    void readiness().then((found) => answer(found.status === 'ready' ? 200 : 503, found))
    return undefined
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { port: boundPort(server), close: () => closeServer(server) }
}

export function boundPort(server: NetServer): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server listens on no TCP port')
  return address.port
}

/** Stops accepting, drops idle connections and waits for the open requests. */
export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  await closed
}
