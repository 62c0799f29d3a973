import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { parseJson } from '#domain/json.ts'
import type { ModelRequest } from '#domain/turn.ts'
import { boundPort } from '#platform/http-health.ts'
import { OpenAiClient } from '../http/openai-client.ts'
import { openUndiciFetch } from '../http/undici-fetch.ts'
import { allCapabilities } from '../wire/capabilities.ts'
import { openPromptCounter } from './count-prompt.ts'

const tool = { name: 'read_file', description: 'Reads.', parameters: { type: 'object', properties: {} } }
const request: ModelRequest = {
  model: 'small',
  messages: [{ role: 'user', content: 'Read it.' }],
  tools: [tool],
  toolChoice: 'required',
  temperature: 0,
  maxTokens: 10,
}

type Answers = Readonly<Record<string, (body: unknown) => object | undefined>>

/** Returns what a server says of the request twice, and which paths were asked for. */
async function counted(answers: Answers): Promise<{ tokens: (number | undefined)[]; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      asked.push(incoming.url ?? '')
      const answer = answers[incoming.url ?? '']?.(parseJson(Buffer.concat(chunks).toString()))
      response
        .writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer ?? {}))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const transport = openUndiciFetch({ maxBytes: 1_000_000, proxy: undefined })
  const url = `http://127.0.0.1:${boundPort(server)}/v1`
  const client = new OpenAiClient({ url, apiKey: undefined, requestTimeoutMs: 5_000, fetch: transport.fetch })
  const count = openPromptCounter({ client, timeoutMs: 5_000, clock: performance })
  const tokens = [await count(request, allCapabilities), await count(request, allCapabilities)]
  await transport.close()
  server.close()
  return { tokens, asked }
}

describe('the tokens of a prompt', () => {
  it('are counted by vLLM, with its template and the tools', async () => {
    const { tokens } = await counted({
      '/tokenize': (body) => {
        expect(body).toMatchObject({
          model: 'small',
          messages: [{ content: 'Read it.' }],
          tools: [{ type: 'function' }],
        })
        return { count: 123, max_model_len: 4096, tokens: [1, 2, 3] }
      },
    })
    expect(tokens).toEqual([123, 123])
  })

  it('are counted by llama.cpp in the text that its template makes of it', async () => {
    const { tokens } = await counted({
      '/apply-template': (body) => {
        expect(body).toMatchObject({ messages: [{ role: 'user' }], tools: [{ type: 'function' }] })
        return { prompt: '<user>Read it.' }
      },
      '/tokenize': (body) => {
        const isText = JSON.stringify(body).includes('"content":"<user>Read it."')
        return { tokens: isText ? [1, 2, 3, 4] : [] }
      },
    })
    expect(tokens).toEqual([4, 4])
  })

  it('are not known where a server counts none, which is not asked again at once', async () => {
    expect(await counted({})).toEqual({ tokens: [undefined, undefined], asked: ['/tokenize'] })
  })
})
