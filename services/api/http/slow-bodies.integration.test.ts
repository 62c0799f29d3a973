import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { boundPort } from '#platform/http-health.ts'
import { until } from '#testing/until.ts'
import { openSocket } from './raw-request.fixture.ts'
import { watchSlowBodies } from './refuse-connection.ts'

const limits = { windowMs: 15_000, minBytes: 1_000 }
const opened: { close(): Promise<void> }[] = []
afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())))

type Watched = {
  clock: { now: number }
  slow(): IncomingMessage[]
  /** Sends a request that announces a body, and answers when it has come, without the body. */
  begin(bodyBytes?: number): Promise<{ socket: Socket; request: IncomingMessage }>
}

/** A server that does with its requests what `serve` does, under a clock of the test's own. */
async function watched(serve: (request: IncomingMessage, response: ServerResponse) => void): Promise<Watched> {
  const clock = { now: 1_000_000 }
  const requests: IncomingMessage[] = []
  const server = createServer(serve)
  const slow = watchSlowBodies(server, limits, () => clock.now)
  server.on('request', (request) => requests.push(request))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets: Socket[] = []
  opened.push({
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  })
  return {
    clock,
    slow,
    async begin(bodyBytes = 100_000) {
      const socket = openSocket(`http://127.0.0.1:${boundPort(server)}`)
      sockets.push(socket)
      const before = requests.length
      socket.write(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${bodyBytes}\r\n\r\n`)
      const request = await until(() => requests[before])
      return { socket, request }
    },
  }
}

async function sent(bytes: number, { socket, request }: { socket: Socket; request: IncomingMessage }): Promise<void> {
  const before = request.socket.bytesRead
  socket.write('x'.repeat(bytes))
  await until(() => request.socket.bytesRead, { holds: (read) => read === before + bytes })
}

describe('a body', () => {
  it('has a window of its own, whenever the server was started and however often it is looked at', async () => {
    const { clock, slow, begin } = await watched((request) => request.resume())
    clock.now += limits.windowMs - 1
    const { request } = await begin(2)
    for (let look = 0; look < 10; look += 1) {
      clock.now += limits.windowMs / 10 - 1
      expect(slow()).toEqual([])
    }
    clock.now += 10
    expect(slow()).toEqual([request])
  })

  it('that goes on is left alone, and is slow once it stops', async () => {
    const { clock, slow, begin } = await watched((request) => request.resume())
    const sending = await begin()
    for (let window = 0; window < 3; window += 1) {
      await sent(limits.minBytes, sending)
      clock.now += limits.windowMs
      expect(slow()).toEqual([])
    }
    await sent(limits.minBytes - 1, sending)
    clock.now += limits.windowMs
    expect(slow()).toEqual([sending.request])
  })

  it('that nobody reads here is left alone, and watched again when somebody does', async () => {
    const { clock, slow, begin } = await watched(() => {})
    const { socket, request } = await begin()
    socket.write('x'.repeat(90_000))
    await until(() => request.readableLength, { holds: (length) => length >= request.readableHighWaterMark })
    for (let look = 0; look < 3; look += 1) {
      clock.now += limits.windowMs
      expect(slow()).toEqual([])
    }
    request.resume()
    await until(() => request.readableLength, { holds: (length) => length === 0 })
    clock.now += limits.windowMs
    slow() // what was held up has come since the last look
    clock.now += limits.windowMs
    expect(slow()).toEqual([request])
  })

  it('is watched no more when its client has gone', async () => {
    const { clock, slow, begin } = await watched((request) => request.resume().on('error', () => {}))
    const { socket, request } = await begin()
    socket.destroy()
    await until(() => request.closed)
    clock.now += limits.windowMs
    expect(slow()).toEqual([])
  })

  it('is watched on after an early answer: its rest holds the connection, too', async () => {
    const { clock, slow, begin } = await watched((_request, response) => response.end('early'))
    const { socket, request } = await begin()
    await once(socket, 'data')
    clock.now += limits.windowMs
    expect(slow()).toEqual([request])
  })
})
