import { once } from 'node:events'
import { createServer, request as sendRequest } from 'node:http'
import { boundPort } from '#platform/http-health.ts'

export type CountingProxy = {
  url: string
  /** Requests since the last call, by method and kind of object: `PUT attempts`. */
  takeCounts(): Map<string, number>
  close(): void
}

/** Stands before the object store and counts what the worker asks of it. Headers pass unchanged, so signatures hold. */
export async function openCountingProxy(endpoint: string): Promise<CountingProxy> {
  let counts = new Map<string, number>()
  const server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming
    const kind = `${method} ${/projects\/[^/]+\/([^/]+)/.exec(url)?.[1] ?? 'other'}`
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    const forwarded = sendRequest(new URL(url, endpoint), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${boundPort(server)}`,
    takeCounts() {
      const taken = counts
      counts = new Map()
      return taken
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
