import { once } from 'node:events'
import { createServer } from 'node:net'

/** Ports nobody listens on, chosen together so that no two are the same. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => {
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
    return address.port
  })
  for (const server of servers) server.close()
  return ports
}
