import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
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
  server = createServer((incoming, response) => {
    seen.push(incoming.headers)
    incoming.resume()
    const { status, body, headers = {} } = answers[Math.min(seen.length, answers.length) - 1] ?? ok
    response.writeHead(status, headers).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://user:secret@127.0.0.1:${boundPort(server)}/v1?key=secret`
  const endpoints = [{ url, apiKey: options.apiKey }]
  pool = openModelPool({ endpoints, requestTimeoutMs: 1000, retryBudgetMs: 1500, maxInFlight: 4 })
  return { complete: pool.complete, seen }
}

const never = new AbortController().signal

describe('openModelPool', () => {
  it.each([500, 502, 504])('tries again after %i', async (status) => {
    const { complete, seen } = await answering([{ status, body: 'oops' }, ok])
    expect((await complete(request, never)).content).toBe('hi')
    expect(seen).toHaveLength(2)
  })

  it('waits as long as Retry-After says', async () => {
    const { complete } = await answering([{ status: 429, body: '', headers: { 'retry-after': '1' } }, ok])
    const start = performance.now()
    await complete(request, never)
    expect(performance.now() - start).toBeGreaterThan(950)
  })

  it('gives up at once when Retry-After lies beyond the budget', async () => {
    const { complete, seen } = await answering([{ status: 503, body: '', headers: { 'retry-after': '20' } }])
    await expect(complete(request, never)).rejects.toMatchObject({ code: 'AGENT_002' })
    expect(seen).toHaveLength(1)
  })

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
  ])('fails with AGENT_007 when the request is too long: %s', async (body) => {
    const { complete, seen } = await answering([{ status: 400, body }])
    await expect(complete(request, never)).rejects.toMatchObject({ code: 'AGENT_007' })
    expect(seen).toHaveLength(1)
  })

  it.each([400, 401, 404])('does not repeat a request refused with %i', async (status) => {
    const { complete, seen } = await answering([{ status, body: '{"error":{"message":"no"}}' }])
    await expect(complete(request, never)).rejects.toMatchObject({
      code: 'AGENT_002',
      message: expect.stringContaining(String(status)),
    })
    expect(seen).toHaveLength(1)
  })

  it('names the endpoint without its credentials', async () => {
    const { complete } = await answering([{ status: 401, body: '' }], { apiKey: 'sk-secret' })
    const error = await complete(request, never).catch((thrown: unknown) => String(thrown))
    expect(error).toContain('http://127.0.0.1:')
    expect(error).not.toContain('secret')
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
