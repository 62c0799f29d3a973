import { createServer, type Server } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { once } from 'node:events'
import { untilAborted } from './clock.ts'

export type Health = { port: number; close(): Promise<void> }

/** The check of a dependency: resolves when it answers, else rejects with the reason. */
export type ReadyCheck = () => Promise<unknown>

/** For services without an API: `/healthz` is 200; `/readyz` 200, or 503 naming the checks not passed in a second. */
export async function openHealth(port: number, checks: Readonly<Record<string, ReadyCheck>>): Promise<Health> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (request.url === '/healthz') return answer(200, { status: 'ok' })
    if (request.url !== '/readyz') return answer(404, { status: 'not found' })
    void failingChecks(checks).then((failing) =>
      failing.length === 0 ? answer(200, { status: 'ready' }) : answer(503, { status: 'not ready', failing }),
    )
    return undefined
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { port: boundPort(server), close: () => closeServer(server) }
}

export async function failingChecks(checks: Readonly<Record<string, ReadyCheck>>): Promise<string[]> {
  const results = await Promise.allSettled(
    Object.values(checks).map((check) => untilAborted(check(), AbortSignal.timeout(1000))),
  )
  return Object.keys(checks).filter((_name, index) => results[index]?.status === 'rejected')
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
