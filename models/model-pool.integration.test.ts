import { once } from 'node:events'
import { inspect } from 'node:util'
import { text } from 'node:stream/consumers'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { isContextOverflow } from '#domain/error.ts'
import type { ModelRequest } from '#domain/turn.ts'
import { boundPort } from '#platform/http-health.ts'
import { openModelPool, type ModelPool } from './model-pool.ts'

type Answer = { status: number; body: string; headers?: Record<string, string> }

const good = { choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }] }
const ok: Answer = { status: 200, body: JSON.stringify(good), headers: { 'content-type': 'application/json' } }
const request: ModelRequest = {
  model: 'small',
  messages: [{ role: 'user', content: 'hello' }],
  tools: [],
  toolChoice: 'auto',
  temperature: 0,
  maxTokens: 10,
}

let server: Server | undefined
let pool: ModelPool | undefined
afterEach(async () => {
  await pool?.close()
  server?.close()
})

/** A server that gives these answers in order, the last one for ever. */
async function answering(answers: Answer[], options: { apiKey?: string; path?: string } = {}) {
  const seen: IncomingHttpHeaders[] = []
  const respond = async (incoming: IncomingMessage, response: ServerResponse) => {
    if (incoming.method === 'GET') return incoming.resume() && response.writeHead(404).end() // its models
    // What the pool asks by itself, to find out whether the server works, counts as no request.
    if ((await text(incoming)).includes('"hello"')) seen.push(incoming.headers)
    const { status, body, headers = {} } = answers[Math.min(seen.length, answers.length) - 1] ?? ok
    return response.writeHead(status, headers).end(body)
  }
  server = createServer((incoming, response) => void respond(incoming, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${boundPort(server)}/v1`
  const endpoints = [{ url, apiKey: options.apiKey }]
  pool = openModelPool({ endpoints, requestTimeoutMs: 1000, retryBudgetMs: 1500, maxInFlight: 4 })
  return { complete: pool.complete, seen }
}

/** A server that begins this answer and never ends it. One with status 503 is whole: its client waits before it asks again. */
async function hanging(answer: Answer | undefined) {
  const arrived = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  server = createServer((incoming, response) => {
    response.once('close', left.resolve)
    incoming.resume().once('end', () => {
      if (answer?.status === 503) response.writeHead(503, answer.headers).end()
      else if (answer !== undefined) response.writeHead(answer.status).write(answer.body)
      arrived.resolve()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${boundPort(server)}/v1`, arrived: arrived.promise, left: left.promise }
}

const never = new AbortController().signal

describe('openModelPool', () => {
  it.each([
    ['no JSON', 'hello'],
    ['no choices', '{"choices":[]}'],
  ])('fails with AGENT_008 after three replies with %s', async (_what, body) => {
    const { complete, seen } = await answering([{ status: 200, body }])
    await expect(complete(request, never)).rejects.toMatchObject({ code: 'AGENT_008', phase: 'model' })
    expect(seen).toHaveLength(3)
  })

  it.each([
    '{"error":{"message":"This model\'s maximum context length is 4096 tokens."}}',
    '{"error":{"message":"too long","code":"context_length_exceeded"}}',
    '{"error":{"code":400,"message":"Zu lang.","type":"exceed_context_size_error","n_prompt_tokens":3232,"n_ctx":2048}}',
  ])('fails with AGENT_007 when the request is too long: %s', async (body) => {
    const { complete, seen } = await answering([{ status: 400, body }])
    const error: unknown = await complete(request, never).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'AGENT_007' })
    expect(isContextOverflow(error)).toBe(true)
    expect(seen).toHaveLength(1)
  })

  it.each([
    [400, '{"error":{"message":"bad tool schema"}}', 'answered 400 bad tool schema'],
    [401, '{"error":"Unauthorized"}', 'refuses the key (set REMORA_MODEL_API_KEY): answered 401 "Unauthorized"'],
    [403, '{"detail":"no key"}', 'refuses the key (set REMORA_MODEL_API_KEY): answered 403 {"detail":"no key"}'],
    [404, '{"object":"error","message":"The model `x` does not exist."}', 'answered 404 The model `x` does not exist.'],
    [404, 'page not found', 'answered 404 page not found'],
  ])("does not repeat a request refused with %i %s, and says so in the server's words", async (status, body, words) => {
    const { complete, seen } = await answering([{ status, body, headers: { 'content-type': 'application/json' } }])
    const message = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1: (?:refuses .*: )?answered/)
    const refused = complete(request, never)
    await expect(refused).rejects.toMatchObject({ code: 'AGENT_002', message })
    await expect(refused).rejects.toThrow(words)
    expect(seen).toHaveLength(1)
  })

  it('clips what a server that refuses says', async () => {
    const { complete } = await answering([{ status: 403, body: 'no '.repeat(100_000) }])
    const message = expect.stringMatching(/answered 403 no no.{400,500}$/)
    await expect(complete(request, never)).rejects.toMatchObject({ message })
  })

  it.each([
    ['no answer yet', undefined],
    ['half an answer', { status: 200, body: '{"choices":[' }],
    ['an answer that says to wait', { status: 503, body: '', headers: { 'retry-after': '40' } }],
  ])('ends at once when aborted with %s, and closes the socket', async (_what, first) => {
    const { url, arrived, left } = await hanging(first)
    pool = openModelPool({ endpoints: [{ url }], requestTimeoutMs: 60_000, retryBudgetMs: 60_000, maxInFlight: 4 })
    const abort = new AbortController()
    const asked = pool.complete(request, abort.signal)
    await arrived
    const reason = new Error('cancelled')
    // Whatever else would end the wait takes longer than a test may.
    abort.abort(reason)
    await expect(asked).rejects.toBe(reason)
    if (first?.status !== 503) await left
  })

  it.each(['localhost:8000/v1', 'http://me:secret@host/v1', 'http://host/v1?key=secret'])(
    'is not opened over %s',
    (url) => {
      const open = () => openModelPool({ endpoints: [{ url }], requestTimeoutMs: 1, retryBudgetMs: 1, maxInFlight: 1 })
      expect(open).toThrow(
        expect.objectContaining({ code: 'CONFIG_003', message: expect.not.stringContaining('secret') }),
      )
    },
  )

  it.for([
    [401, '{"error":{"message":"bad credentials: Bearer sk-secret/1","code":"sk-secret/1"}}'],
    [400, '{"error":{"sk-secret/1":["Bearer sk-of-another"]}}'],
    [403, '<p>no sk-secret/1 here, nor bearer sk-of-another</p>'],
    [500, '{"detail":"headers: {\\"authorization\\":\\"Bearer sk-secret\\/1\\"}"}'],
    [200, '{"error":{"message":"bad credentials: Bearer sk-secret/1","code":401}}'],
    [200, 'data: {"error":"unknown key sk-secret/1"}\n\n'],
    [200, 'data: {"error":{"message":{"sk-secret/1":"sk-of-another"},"type":"sk-secret/1","code":"503"}}\n\n'],
  ] as const)('tells of no key that a server says back: %i %s', async ([status, body]) => {
    const headers = { 'content-type': body.startsWith('data:') ? 'text/event-stream' : 'application/json' }
    const { complete } = await answering([{ status, body, headers }], { apiKey: 'sk-secret/1' })
    const error = await complete(request, never).catch((thrown: unknown) => thrown)
    expect(String(error)).toContain('[secret]')
    expect(inspect(error, { depth: 9 })).not.toMatch(/sk-secret|Bearer sk-of/i)
  })

  it('leaves the words of an error that speak of keys', async () => {
    const { complete } = await answering([
      { status: 401, body: '{"error":{"message":"Invalid bearer token was given."}}' },
    ])
    await expect(complete(request, never)).rejects.toThrow('answered 401 Invalid bearer token was given.')
  })

  it('sends the key it was given, and none otherwise', async () => {
    const withKey = await answering([ok], { apiKey: 'sk-1' })
    await withKey.complete(request, never)
    expect(withKey.seen[0]?.authorization).toBe('Bearer sk-1')
    server?.close()
    await pool?.close()
    const without = await answering([ok])
    await without.complete(request, never)
    expect(without.seen[0]?.authorization).toBeUndefined()
  })
})
