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

type Case = { how: 'end' | 'reset'; as: 'server' | 'proxy' }
type Seen = { requests: number; sockets: number }

/** Answers so many requests on each socket, and closes it when it is asked for one more, as servers do that just closed it. */
async function serve(answersPerSocket: number, { how, as }: Case): Promise<{ url: string; seen: Seen }> {
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
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`
  const proxy = as === 'proxy' ? { http: url, https: undefined, direct: '' } : undefined
  transport = openUndiciFetch({ maxBytes: 1000, proxy })
  return { url: as === 'proxy' ? 'http://model.invalid/' : url, seen }
}

/** undici uses a socket again one turn of the event loop after its answer at the earliest. */
async function post(url: string): Promise<string | undefined> {
  await new Promise(setImmediate)
  return (await transport?.fetch(url, { method: 'POST', body: '{}' }))?.text()
}

describe.each<Case>([
  { how: 'end', as: 'server' },
  { how: 'reset', as: 'server' },
  { how: 'end', as: 'proxy' },
  { how: 'reset', as: 'proxy' },
])('a $as that closes its sockets ($how)', (what) => {
  it('after some answers costs its clients nothing: the request goes again on another socket', async () => {
    const { url, seen } = await serve(2, what)
    for (let number = 0; number < 7; number += 1) expect(await post(url)).toBe('ok')
    expect(seen).toEqual({ requests: 10, sockets: 4 })
  })

  it('before any answer has failed, and is asked once', async () => {
    const { url, seen } = await serve(0, what)
    await expect(post(url)).rejects.toMatchObject({ code: 'AGENT_002' })
    expect(seen).toEqual({ requests: 1, sockets: 1 })
  })
})
