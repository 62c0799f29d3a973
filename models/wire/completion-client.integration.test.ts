import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import type { ModelRequest } from '#domain/turn.ts'
import { after, repeatEvery } from '#platform/clock.ts'
import { boundPort } from '#platform/http-health.ts'
import { OpenAiClient } from '../http/openai-client.ts'
import { openUndiciFetch, type UndiciFetch } from '../http/undici-fetch.ts'
import { allCapabilities } from './capabilities.ts'
import { openCompletionClient } from './completion-client.ts'

const request: ModelRequest = {
  model: 'small',
  messages: [{ role: 'user', content: 'hello' }],
  tools: [],
  toolChoice: 'auto',
  temperature: 0,
  maxTokens: 10,
}
const part = (content: string, reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: reason }] })}\n\n`
const whole = JSON.stringify({
  object: 'chat.completion',
  choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }],
})
const said = (content: string) => ({ raw: { choices: [{ message: { content } }] } })

const opened: { server: Server; transport: UndiciFetch }[] = []
afterAll(async () => {
  for (const { server, transport } of opened) {
    await transport.close()
    server.close()
  }
})

type Options = {
  stream?: boolean
  timeoutMs?: number
  maxBytes?: number
  type?: string
  capabilities?: typeof allCapabilities
}

/** A line to a server that answers with `write`; `left` is when the connection of the first request has closed. */
async function lineTo(write: (response: ServerResponse) => void, options: Options = {}) {
  const { stream = true, timeoutMs = 20_000, maxBytes = 1_000_000, type = 'text/event-stream' } = options
  const bodies: Record<string, unknown>[] = []
  const left = Promise.withResolvers<void>()
  const server = createServer((incoming, response) => {
    let body = ''
    response.once('close', left.resolve)
    incoming.on('data', (chunk) => (body += chunk))
    incoming.once('end', () => {
      bodies.push(JSON.parse(body))
      response.setHeader('content-type', type)
      write(response)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const transport = openUndiciFetch({ maxBytes })
  opened.push({ server, transport })
  const url = `http://127.0.0.1:${boundPort(server)}/v1`
  const client = new OpenAiClient({ url, apiKey: undefined, requestTimeoutMs: timeoutMs, fetch: transport.fetch })
  const line = openCompletionClient({ client, stream })
  const ask = (signal = new AbortController().signal) =>
    line.ask(request, options.capabilities ?? allCapabilities, signal)
  return { ask, bodies, left: left.promise, server }
}

describe.concurrent('a completion client that streams', () => {
  it('asks for a stream with usage, and for usage only where the server can', async () => {
    const write = (response: ServerResponse) => response.end(part('hi', 'stop'))
    const { ask, bodies } = await lineTo(write)
    expect(await ask()).toMatchObject({ ...said('hi'), firstTokenMs: expect.any(Number) })
    expect(bodies[0]).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    const without = await lineTo(write, { capabilities: { ...allCapabilities, streamUsage: false } })
    await without.ask()
    expect(without.bodies[0]).toMatchObject({ stream: true })
    expect(without.bodies[0]).not.toHaveProperty('stream_options')
  })

  it('asks for nothing of the kind otherwise, and reads a stream all the same', async () => {
    const { ask, bodies } = await lineTo((response) => response.end(part('hi', 'stop')), { stream: false })
    expect(await ask()).toMatchObject(said('hi'))
    expect(bodies[0]).not.toHaveProperty('stream')
  })

  it('reads an answer that is not streamed', async () => {
    const { ask } = await lineTo((response) => response.end(whole), { type: 'application/json' })
    expect(await ask()).toEqual({ raw: JSON.parse(whole), workarounds: [] })
  })

  it('reads events under another type', async () => {
    const { ask } = await lineTo((response) => response.end(part('h') + part('i', 'stop')), { type: 'text/plain' })
    expect(await ask()).toMatchObject(said('hi'))
  })

  it('does not wait for the end of the body after [DONE], and uses connections again', async () => {
    let connections = 0
    const { ask, server } = await lineTo((response) =>
      response.write(`${part('hi', 'stop')}data: [DONE]\n\n`, () => response.end()),
    )
    server.on('connection', () => (connections += 1))
    for (let asked = 0; asked < 10; asked++) await ask()
    expect(connections).toBeLessThan(10) // a request that comes before the end of the last body has another
  })

  it('closes the connection of a server that never ends a stream', async () => {
    const { ask, left } = await lineTo((response) => response.write(`${part('hi', 'stop')}data: [DONE]\n\n`))
    expect(await ask()).toMatchObject(said('hi'))
    await left
  })

  it('takes a reply that is whole from a server that says nothing more, and closes the connection', async () => {
    const { ask, left } = await lineTo((response) => response.write(part('hi', 'stop')))
    expect(await ask()).toMatchObject(said('hi'))
    await left
  })

  it('takes what comes long after an early finish_reason, with its usage', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4 }
    const text = `${part('i', 'stop')}data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`
    const { ask } = await lineTo((response) =>
      response.write(part('h', 'stop'), () => void after(1000, () => response.end(text))),
    )
    expect(await ask()).toMatchObject({ raw: { choices: [{ message: { content: 'hi' } }], usage } })
  })

  it('takes a reply that is whole at its time limit when signs of life keep coming', async () => {
    const live = (response: ServerResponse) => {
      response.write(part('hi', 'stop'))
      const stop = repeatEvery(20, async () => response.write(': alive\n\n'))
      response.once('close', () => void stop())
    }
    const { ask, left } = await lineTo(live, { timeoutMs: 600 })
    expect(await ask()).toMatchObject(said('hi'))
    await left
  })

  it('takes a reply that is whole when the connection breaks after it', async () => {
    const { ask } = await lineTo((response) => response.write(part('hi', 'stop'), () => response.destroy()))
    expect(await ask()).toMatchObject(said('hi'))
  })

  it('fails with AGENT_008 when the connection breaks in it', async () => {
    const { ask } = await lineTo((response) => response.write(part('hi'), () => response.destroy()))
    await expect(ask()).rejects.toMatchObject({ code: 'AGENT_008' })
  })

  it.for([
    ['an error in the stream', 'text/event-stream', `${part('h')}data: {"error":{"message":"died","code":503}}\n\n`],
    ['an error instead of an answer', 'application/json', '{"error":{"message":"died","code":503}}'],
  ] as const)('throws %s as the server’s own status would be', async ([_what, type, text]) => {
    const { ask } = await lineTo((response) => response.end(text), { type })
    await expect(ask()).rejects.toMatchObject({ status: 503, message: '503 died' })
  })

  it.for([
    ['{"error":{"code":{"toString":1}}}'],
    [`{"error":${'['.repeat(8000)}${']'.repeat(8000)}}`],
    [
      `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop","logprobs":${'['.repeat(8000)}${']'.repeat(8000)}}]}`,
    ],
  ])('fails with AGENT_008 at %s, streamed or not', async ([text]) => {
    for (const [type, sent] of [
      ['text/event-stream', `data: ${text}\n\n`],
      ['application/json', text],
    ] as const) {
      const { ask } = await lineTo((response) => response.end(sent), { type })
      await expect(ask()).rejects.toMatchObject({ code: 'AGENT_008' })
    }
  })

  it('throws a refusal with its status', async () => {
    const refuse = (response: ServerResponse) => response.writeHead(429).end('{"error":{"message":"slow down"}}')
    await expect((await lineTo(refuse, { type: 'application/json' })).ask()).rejects.toMatchObject({ status: 429 })
  })

  it('fails with AGENT_002 when pieces keep coming after the time limit, and closes the connection', async () => {
    const drip = (response: ServerResponse) => {
      const stop = repeatEvery(20, async () => response.write(part('a')))
      response.once('close', () => void stop())
    }
    const { ask, left } = await lineTo(drip, { timeoutMs: 300 })
    await expect(ask()).rejects.toMatchObject({ code: 'AGENT_002' })
    await left
  })

  it('fails with AGENT_007 when it is larger than allowed, and closes the connection', async () => {
    const { ask, left } = await lineTo((response) => response.write(part('x'.repeat(3000))), { maxBytes: 2000 })
    await expect(ask()).rejects.toMatchObject({ code: 'AGENT_007' })
    await left
  })

  it('ends at once when aborted, and closes the connection', async () => {
    const abort = new AbortController()
    const { ask, left } = await lineTo((response) => {
      response.write(part('hi'))
      setImmediate(() => abort.abort(new Error('cancelled')))
    })
    await expect(ask(abort.signal)).rejects.toThrow(/abort/i)
    await left
  })
})
