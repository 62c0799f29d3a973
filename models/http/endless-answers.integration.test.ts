import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { openUndiciFetch } from './undici-fetch.ts'

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close()
})

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.push(server)
  const address = server.address()
  return `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

function open(maxBytes = 1000) {
  const transport = openUndiciFetch({ maxBytes })
  opened.push(transport)
  return transport
}

describe('an abort', () => {
  it('ends a request at once that has no connection yet', async () => {
    const arrived = Promise.withResolvers<void>()
    const seen = { isOpen: true }
    const silent = createServer((socket: Socket) => {
      socket.on('error', () => undefined).once('close', () => (seen.isOpen = false))
      opened.push({ close: () => socket.destroy() })
      arrived.resolve() // never answers the TLS handshake
    })
    const host = await listen(silent)
    const abort = new AbortController()
    const asked = open().fetch(`https://${host}/`, { method: 'POST', body: '{}', signal: abort.signal })
    await arrived.promise
    const reason = new Error('cancelled')
    abort.abort(reason)
    await expect(asked).rejects.toBe(reason)
    expect(seen.isOpen).toBe(true) // undici itself rejects when it gives the connection up, seconds later
  })
})

describe('a GET', () => {
  it('that is answered with an endless stream of events ends with its signal, and closes the socket', async () => {
    const [begun, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const endless = createHttpServer((_request, response) => {
      response.once('close', left.resolve)
      response.setHeader('content-type', 'text/event-stream').write(': x\n\n', () => begun.resolve())
    })
    const host = await listen(endless)
    const abort = new AbortController()
    const asked = open().fetch(`http://${host}/v1/models`, { signal: abort.signal })
    await begun.promise
    const reason = new Error('too late')
    abort.abort(reason)
    await expect(asked).rejects.toBe(reason)
    await left.promise
  })

  it('is read up to what it may be, and then closes the socket', async () => {
    const left = Promise.withResolvers<void>()
    const endless = createHttpServer((_request, response) => {
      response.once('close', left.resolve)
      const more = () => void response.write(': x\n\n'.repeat(100), more)
      response.setHeader('content-type', 'text/event-stream')
      more()
    })
    const host = await listen(endless)
    await expect(open().fetch(`http://${host}/v1/models`)).rejects.toMatchObject({ code: 'AGENT_007' })
    await left.promise
  })
})
