import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { onTestFinished, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import type { ObjectStore } from './object-store.ts'
import { openS3ObjectStore } from './s3-object-store.ts'

/** A store over a server that answers as `answer` says. */
async function storeOver(answer: RequestListener, over: { silentMs?: number } = {}): Promise<ObjectStore> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const objects = openS3ObjectStore({
    endpoint: `http://127.0.0.1:${port}`,
    bucket: 'remora',
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    ...over,
  })
  onTestFinished(async () => {
    objects.close()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return objects
}

function fail(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code></Error>`)
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  return Buffer.concat(await Array.fromAsync(request)).toString()
}

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

describe('the S3 client over undici', () => {
  it.each<[string, RequestListener]>([
    ['a socket that breaks before the answer', (request) => void request.socket.destroy()],
    ['a server that is overloaded', (_request, response) => fail(response, 503, 'SlowDown')],
  ])('sends the whole object again after %s', async (_fault, refuse) => {
    const bodies: Promise<string>[] = []
    let requests = 0
    const objects = await storeOver((request, response) => {
      requests += 1
      if (requests === 1) return refuse(request, response)
      request.once('end', () => response.end())
      bodies.push(bodyOf(request))
    })
    await objects.put('k', 'content')
    expect(await Promise.all(bodies)).toEqual(['content'])
    expect(requests).toBe(2)
  })

  it('answers STORE_002 after four broken sockets', async () => {
    let requests = 0
    const objects = await storeOver((request) => {
      requests += 1
      request.socket.destroy()
    })
    await expect(objects.get('k')).rejects.toMatchObject({ code: 'STORE_002' })
    expect(requests).toBe(4)
  })

  it('does not ask again when the server refuses', async () => {
    let requests = 0
    const objects = await storeOver((_request, response) => {
      requests += 1
      fail(response, 403, 'AccessDenied')
    })
    await expect(objects.get('k')).rejects.toMatchObject({ code: 'STORE_002', message: /AccessDenied/ })
    expect(requests).toBe(1)
  })

  it('answers STORE_002 when the object breaks off half way', async () => {
    const objects = await storeOver((_request, response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('half', () => response.destroy())
    })
    await expect(objects.get('k')).rejects.toMatchObject({ code: 'STORE_002' })
  })

  it.each<[string, (objects: ObjectStore) => Promise<unknown>]>([
    ['an object', (objects) => objects.put('k', 'content')],
    ['an upload', (objects) => objects.putStream('k', chunks('content'), { maxBytes: 100, contentType: 'text/plain' })],
  ])(
    'waits longer for the answer to %s, which takes as long as the line, than it may wait for others',
    async (_what, put) => {
      const begun = Promise.withResolvers<ServerResponse>()
      const seen: string[] = []
      const listener: RequestListener = (request, response) => {
        seen.push(`${request.method}`)
        if (request.method === 'PUT') begun.resolve(response)
      }
      const objects = await storeOver(listener, { silentMs: 100 })
      const putting = Promise.allSettled([put(objects)])
      const response = await begun.promise
      await expect(objects.get('k')).rejects.toMatchObject({ code: 'STORE_002' })
      await expect(objects.stat('k')).rejects.toMatchObject({ code: 'STORE_002' })
      response.end()
      expect(await putting).toMatchObject([{ status: 'fulfilled' }])
      expect(seen).toEqual(['PUT', 'GET', 'HEAD'])
    },
  )

  it('gives up at once, with the reason of the abort, when aborted before the answer', async () => {
    const abort = new AbortController()
    let requests = 0
    const objects = await storeOver(() => {
      requests += 1
      abort.abort(new AppError('AGENT_010', 'cancelled'))
    })
    const reading = Array.fromAsync(objects.getStream('k', abort.signal))
    await expect(reading).rejects.toMatchObject({ code: 'AGENT_010' })
    expect(requests).toBe(1)
  })
})
