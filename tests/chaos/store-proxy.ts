import { once } from 'node:events'
import { createServer, request as sendRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { after } from '#platform/clock.ts'
import { boundPort } from '#platform/http-health.ts'
import type { StoreFault } from './fault.ts'

export type StoreProxy = {
  endpoint: string
  /** The fault of every request from now on; undefined: none. `full` refuses writes as MinIO does, `silent` never answers. */
  setFault(how: StoreFault | 'full' | 'silent' | undefined): void
  /** How many requests have come so far. */
  requests(): number
  close(): Promise<void>
}

type ProxyOptions = {
  /** Requests for which it is true are not answered. */
  hold?: (request: IncomingMessage) => boolean
  /** Says how long a request waits while the fault is `slow`. */
  slowMs?: number
}

/** A proxy in front of the object store. Headers pass unchanged, so signatures hold. */
export async function openStoreProxy(
  store: string,
  { hold = () => false, slowMs = 700 }: ProxyOptions = {},
): Promise<StoreProxy> {
  let fault: StoreFault | 'full' | 'silent' | undefined
  let requests = 0
  const server = createServer((incoming, outgoing) => {
    requests += 1
    if (hold(incoming)) return
    if (fault === 'silent') incoming.resume()
    else if (fault === 'reset') incoming.socket.resetAndDestroy()
    else if (fault === '503') refuse(incoming, outgoing, { status: 503, code: 'SlowDown' })
    else if (fault === 'full' && incoming.method !== 'GET')
      refuse(incoming, outgoing, { status: 507, code: 'XMinioStorageFull' })
    else if (fault === 'slow') after(slowMs, () => forward(store, incoming, outgoing))
    else forward(store, incoming, outgoing)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${boundPort(server)}`,
    setFault: (how) => void (fault = how),
    requests: () => requests,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

type Refusal = { status: number; code: string }

function refuse(incoming: IncomingMessage, outgoing: ServerResponse, { status, code }: Refusal): void {
  incoming.resume()
  outgoing.writeHead(status, { 'content-type': 'application/xml' })
  outgoing.end(`<Error><Code>${code}</Code><Message>Not now.</Message></Error>`)
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
