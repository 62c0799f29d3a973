import { once } from 'node:events'
import { createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { after } from '#platform/clock.ts'
import { boundPort } from '#platform/http-health.ts'
import type { StoreFault } from './fault.ts'

export type StoreProxy = {
  endpoint: string
  /** The fault of every request from now on; undefined: none. */
  setFault(how: StoreFault | undefined): void
  close(): Promise<void>
}

const slowMs = 700

/**
 * A proxy in front of the object store. Headers pass unchanged, so signatures hold. Requests for which `hold` is true are not
 * answered.
 */
export async function openStoreProxy(
  store: string,
  { hold = () => false }: { hold?: (request: IncomingMessage) => boolean } = {},
): Promise<StoreProxy> {
  let fault: StoreFault | undefined
  const server = createServer((incoming, outgoing) => {
    if (hold(incoming)) return
    if (fault === 'reset') incoming.socket.resetAndDestroy()
    else if (fault === '503') refuse(incoming, outgoing)
    else if (fault === 'slow') after(slowMs, () => forward(store, incoming, outgoing))
    else forward(store, incoming, outgoing)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${boundPort(server)}`,
    setFault: (how) => void (fault = how),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function refuse(incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.resume()
  outgoing.writeHead(503, { 'content-type': 'application/xml' })
  outgoing.end('<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>')
}

function forward(store: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method = 'GET', url = '/', headers } = incoming
  const forwarded = sendRequest(new URL(url, store), { method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(outgoing)
  })
  forwarded.on('error', () => outgoing.destroy())
  incoming.on('error', () => forwarded.destroy())
  incoming.pipe(forwarded)
}
