import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { openUndiciFetch, type UndiciFetch } from './undici-fetch.ts'

let server: Server | undefined
let transport: UndiciFetch | undefined
afterEach(async () => {
  await transport?.close()
  server?.close()
})

type Seen = { requests: number; sockets: number }

/** Answers so many requests on each socket, and closes it when it is asked for one more, as servers do that just closed it. */
async function serve(answersPerSocket: number, how: 'end' | 'reset'): Promise<{ url: string; seen: Seen }> {
  const seen = { requests: 0, sockets: 0 }
  server = createServer((socket: Socket) => {
    seen.sockets += 1
    let left = answersPerSocket
    socket.on('error', () => undefined)
    socket.on('data', () => {
      seen.requests += 1
      left -= 1
      if (left >= 0) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
      else if (how === 'end') socket.end()
      else socket.resetAndDestroy()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  transport = openUndiciFetch({ maxBytes: 1000 })
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`, seen }
}

/** undici uses a socket again one turn of the event loop after its answer at the earliest. */
async function post(url: string): Promise<string | undefined> {
  await new Promise(setImmediate)
  return (await transport?.fetch(url, { method: 'POST', body: '{}' }))?.text()
}

describe.each(['end', 'reset'] as const)('a server that closes its sockets (%s)', (how) => {
  it('after some answers costs its clients nothing: the request goes again on another socket', async () => {
    const { url, seen } = await serve(2, how)
    for (let number = 0; number < 7; number += 1) expect(await post(url)).toBe('ok')
    expect(seen).toEqual({ requests: 10, sockets: 4 })
  })

  it('before any answer has failed, and is asked once', async () => {
    const { url, seen } = await serve(0, how)
    await expect(post(url)).rejects.toMatchObject({ code: 'AGENT_002' })
    expect(seen).toEqual({ requests: 1, sockets: 1 })
  })
})
