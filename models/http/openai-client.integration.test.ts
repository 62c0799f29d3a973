import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { boundPort } from '#platform/http-health.ts'
import { OpenAiClient } from './openai-client.ts'
import { StreamedResponse } from './streamed-response.ts'
import { openUndiciFetch } from './undici-fetch.ts'

it('is aborted by its caller also when a stream has begun, and closes the connection', async () => {
  const left = Promise.withResolvers<void>()
  const server = createServer((_request, response) => {
    response.once('close', left.resolve)
    response.setHeader('content-type', 'text/event-stream').write('data: {}\n\n')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const transport = openUndiciFetch({ maxBytes: 1000 })
  const url = `http://127.0.0.1:${boundPort(server)}/v1`
  const client = new OpenAiClient({ url, apiKey: undefined, requestTimeoutMs: 20_000, fetch: transport.fetch })
  const abort = new AbortController()
  const response = await client.post('/chat/completions', { body: '{}', signal: abort.signal }).asResponse()
  if (!(response instanceof StreamedResponse)) throw new Error('the answer is no stream')
  const reading = response.read(() => 'more')
  const reason = new Error('cancelled')
  abort.abort(reason)
  await expect(reading).rejects.toBe(reason)
  await left.promise
  await transport.close()
  server.close()
})
