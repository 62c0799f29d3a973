import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { boundPort } from '#platform/http-health.ts'
import { until } from '#testing/until.ts'
import { refuseBrokenRequests } from './refuse-connection.ts'

const opened: { close(): Promise<void> }[] = []
afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())))

const partOfPost = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nx'
const wholeGet = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

type Client = { socket: Socket; said: string; errors: string[] }

/** A server of `serve`, and a client of it that continues to send after the server's last answer. */
async function served(serve: RequestListener) {
  const requests: IncomingMessage[] = []
  const server = createServer(serve)
  server.on('request', (request) => requests.push(request))
  const arrived = { bytes: () => 0 }
  server.on('connection', (connection: Socket) => (arrived.bytes = () => connection.bytesRead))
  const log = { lines: 0, info: () => void (log.lines += 1) }
  const refuse = refuseBrokenRequests(server, log)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect({ port: boundPort(server), host: '127.0.0.1', allowHalfOpen: true })
  const client: Client = { socket, said: '', errors: [] }
  socket.on('data', (chunk) => (client.said += chunk.toString()))
  socket.on('error', (error) => client.errors.push(error.message))
  opened.push({
    async close() {
      socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  })
  const refuseLast = () => {
    const last = requests.at(-1)
    if (last === undefined) throw new Error('there was no request')
    refuse(last.socket, 'HTTP_006', 'too slow')
  }
  return { client, requests, arrived, log, refuseLast }
}

const answersIn = ({ said }: Client) => said.match(/HTTP\/1\.1 \d+/g)
const ended = ({ socket }: Client) => until(() => socket.readableEnded || socket.destroyed)

describe('a connection that is refused', () => {
  it('gets its answer when there was none', async () => {
    const { client, requests, refuseLast } = await served(() => {})
    client.socket.write(partOfPost)
    await until(() => requests, { holds: ({ length }) => length === 1 })
    refuseLast()
    await ended(client)
    expect(answersIn(client)).toEqual(['HTTP/1.1 408'])
  })

  it('gets it after the answers of requests before', async () => {
    const { client } = await served((_request, response) => response.end('fine'))
    client.socket.write(wholeGet)
    await until(() => client.said, { holds: (text) => text.endsWith('fine') })
    client.socket.write('hello\r\n\r\n')
    await ended(client)
    expect(answersIn(client)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
  })

  it.for<[string, RequestListener]>([
    ['has begun', (_request, response) => response.write('begun')],
    ['was given early, before the body had come', (_request, response) => response.end('begun')],
  ])('gets no second answer where the first %s', async ([, serve]) => {
    const { client, refuseLast } = await served(serve)
    client.socket.write(partOfPost)
    await until(() => client.said, { holds: (text) => text.includes('begun') })
    refuseLast()
    await ended(client)
    expect(answersIn(client)).toEqual(['HTTP/1.1 200'])
  })

  it('gets none in place of the answer that an earlier request still waits for', async () => {
    const { client, requests, refuseLast } = await served(() => {})
    client.socket.write(`${wholeGet}${partOfPost}`)
    await until(() => requests, { holds: ({ length }) => length === 2 })
    refuseLast()
    await ended(client)
    expect(answersIn(client)).toBeNull()
  })

  it('is not reset while its client still sends, so that the answer is seen', async () => {
    const { client, arrived, log } = await served(() => {})
    client.socket.write('hello\r\n\r\n')
    await once(client.socket, 'end')
    for (const _part of [1, 2]) {
      const before = arrived.bytes()
      client.socket.write('more\r\n\r\n')
      await until(() => ({ errors: client.errors, bytes: arrived.bytes() }), {
        holds: ({ errors, bytes }) => errors.length > 0 || bytes > before,
      })
    }
    client.socket.end()
    await once(client.socket, 'close')
    expect(answersIn(client)).toEqual(['HTTP/1.1 400'])
    expect(client.errors).toEqual([])
    expect(log.lines).toBe(1)
  })
})
