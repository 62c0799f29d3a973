import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after } from '#platform/clock.ts'
import { boundPort } from '#platform/http-health.ts'

/** A way to one server, by which other machines reach it. */
export type NetworkRelay = {
  port: number
  closeFrom(address: string): void
  /** What was sent on late so far, in pieces. */
  late(): number
  close(): Promise<void>
}

type RelayOptions = {
  host: string
  /** A port of 127.0.0.1. */
  target: number
  /** For how long what comes from this address, and what goes to it, is held back. */
  delayOf(address: string): number
}

type Connection = { address: string; client: Socket; upstream: Socket }

/** Listens at `host`, and passes every connection on to `target`, each way in its order. */
export async function openNetworkRelay({ host, target, delayOf }: RelayOptions): Promise<NetworkRelay> {
  const connections = new Set<Connection>()
  let late = 0
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const address = client.remoteAddress ?? ''
    const upstream = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const connection: Connection = { address, client, upstream }
    connections.add(connection)
    const delayNow = () => {
      const ms = delayOf(address)
      if (ms > 0) late += 1
      return ms
    }
    link(client, upstream, delayNow)
    link(upstream, client, delayNow)
    client.once('close', () => connections.delete(connection))
  })
  server.listen(0, host)
  await once(server, 'listening')
  const drop = ({ client, upstream }: Connection) => [client, upstream].forEach((end) => end.destroy())
  return {
    port: boundPort(server),
    closeFrom: (address) => [...connections].filter((one) => one.address === address).forEach(drop),
    late: () => late,
    async close() {
      const closed = once(server, 'close')
      server.close()
      connections.forEach(drop)
      await closed
    },
  }
}

/** Sends on what `from` says, and its end. A piece never overtakes the one before it, also when the delay gets shorter. */
function link(from: Socket, to: Socket, delayNow: () => number): void {
  const waiting: { at: number; step(): void }[] = []
  const sendDue = () => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const leftMs = next.at - performance.now()
      if (leftMs > 0) return void after(leftMs, sendDue)
      waiting.shift()
      next.step()
    }
  }
  const later = (step: () => void) => {
    waiting.push({ at: performance.now() + delayNow(), step })
    if (waiting.length === 1) sendDue()
  }
  from.on('data', (chunk) => later(() => void to.write(chunk)))
  from.on('end', () => later(() => void to.end()))
  from.on('error', () => later(() => void to.resetAndDestroy()))
}
