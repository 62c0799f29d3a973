import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { boundPort } from '#platform/http-health.ts'
import { until } from '#testing/until.ts'
import { openEndpoint } from './server-endpoint.ts'

const closing: (() => unknown)[] = []
afterEach(() => closing.splice(0).forEach((close) => close()))

const never = new AbortController().signal

/** A server that answers `GET /models` when the test says so. */
async function slowServer() {
  const waiting: ServerResponse[] = []
  const server = createServer((_request, response) => void waiting.push(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => server.close().closeAllConnections())
  const endpoint = openEndpoint({ url: `http://127.0.0.1:${boundPort(server)}/v1`, requestTimeoutMs: 5000, fetch })
  const body = JSON.stringify({ data: ['a', 'b'].map((id) => ({ id, max_model_len: 4096 })) })
  const answer = () => waiting.shift()?.writeHead(200, { 'content-type': 'application/json' }).end(body)
  return { endpoint, waiting, answer }
}

describe('the context length of a model', () => {
  it('is read once for callers that ask together, once for each model, and cached', async () => {
    const { endpoint, waiting, answer } = await slowServer()
    const asked = ['a', 'a', 'b'].map((model) => endpoint.contextTokens(model, never))
    await until(() => waiting, { holds: ({ length }) => length === 2 })
    answer()
    answer()
    expect(await Promise.all(asked)).toEqual([4096, 4096, 4096])
    expect(await endpoint.contextTokens('a', never)).toBe(4096)
    expect(waiting).toEqual([])
  })

  it('rejects a caller that is aborted, and is still read for the others', async () => {
    const { endpoint, waiting, answer } = await slowServer()
    const abort = new AbortController()
    const [aborted, other] = [endpoint.contextTokens('a', abort.signal), endpoint.contextTokens('a', never)]
    const reason = new Error('aborted')
    abort.abort(reason)
    await expect(aborted).rejects.toBe(reason)
    await until(() => waiting, { holds: ({ length }) => length === 1 })
    answer()
    expect(await other).toBe(4096)
  })
})
