import { afterEach, describe, expect, it } from 'vitest'
import type { ModelRequest } from '#domain/turn.ts'
import { openModelPool, type ModelPool } from '../model-pool.ts'
import { playServer, type PlayedAnswer, type PlayedBody, type PlayedServer } from './played-server.fixture.ts'
import { probeUser } from './probe-requests.ts'

const request: ModelRequest = {
  model: 'small',
  messages: [{ role: 'user', content: 'Go.' }],
  tools: ['read_file', 'submit_result'].map((name) => ({ name, description: name, parameters: { type: 'object' } })),
  toolChoice: { name: 'submit_result' },
  temperature: 0,
  maxTokens: 100,
}
const never = new AbortController().signal

const servers: PlayedServer[] = []
let opened: ModelPool | undefined
afterEach(async () => {
  await opened?.close()
  for (const server of servers.splice(0)) server.close()
})

async function open(plays: ((body: PlayedBody) => PlayedAnswer)[], get?: (path: string) => object | undefined) {
  const warnings: unknown[] = []
  for (const play of plays) servers.push(await playServer(play, get))
  const warn = (message: string, fields?: object) => void warnings.push({ message, ...fields })
  const log = { warn, debug: () => undefined }
  const endpoints = servers.map(({ url }) => ({ url }))
  opened = openModelPool({ endpoints, requestTimeoutMs: 10_000, retryBudgetMs: 1000, maxInFlight: 8, log })
  return { pool: opened, warnings }
}

const turns = (server: PlayedServer | undefined) => server?.bodies.filter(({ user }) => user !== probeUser) ?? []
const withoutNames = (body: PlayedBody): PlayedAnswer =>
  typeof body.tool_choice === 'object' ? { status: 400 } : body.tool_choice === 'required' ? 'call' : { content: 'Hi' }

describe('a pool before a server that refuses named tools', () => {
  it('never sends it one, says in the reply what it did instead, and logs it once', async () => {
    const { pool, warnings } = await open([withoutNames])
    const replies = await Promise.all([1, 2, 3].map(() => pool.complete(request, never)))
    expect(replies.map(({ toolCalls }) => toolCalls[0]?.name)).toEqual([
      'submit_result',
      'submit_result',
      'submit_result',
    ])
    expect(replies[0]?.workarounds).toEqual(['tool_choice submit_result: required, with that tool alone'])
    expect(turns(servers[0]).map((body) => [body.tool_choice, body.tools?.length])).toEqual([
      ['required', 1],
      ['required', 1],
      ['required', 1],
    ])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatchObject({
      endpoint: servers[0]?.url,
      model: 'small',
      lacks: expect.arrayContaining(['named is refused: required, with that tool alone']),
    })
  })

  it('knows each server by itself', async () => {
    const { pool } = await open([withoutNames, () => 'call'])
    // Which server a prefix is at home at depends on their ports.
    for (let number = 0; number < 24; number += 1) {
      await pool.complete({ ...request, prefixKey: `prefix ${number}` }, never)
    }
    const choices = servers.map((server) => new Set(turns(server).map(({ tool_choice: choice }) => typeof choice)))
    expect(choices).toEqual([new Set(['string']), new Set(['object'])])
  })

  it('asks nothing of a server for a plain word, and everything before the first request when told to', async () => {
    const { pool } = await open([withoutNames])
    await pool.complete({ ...request, tools: [] }, never)
    expect(servers[0]?.bodies).toHaveLength(1)
    await pool.probe('small', never)
    const probes = servers[0]?.bodies.length ?? 0
    expect(probes).toBeGreaterThan(5)
    await pool.complete(request, never)
    expect(servers[0]?.bodies).toHaveLength(probes + 1)
  })

  it('leaves at once when aborted while a server is probed', async () => {
    const { pool } = await open([() => 'hang'])
    const abort = new AbortController()
    const asked = pool.complete(request, abort.signal)
    const reason = new Error('cancelled')
    abort.abort(reason)
    await expect(asked).rejects.toBe(reason)
  })
})

describe('contextTokens', () => {
  const models = (entry: object) => ({
    data: [
      { id: 'other', max_model_len: 1 },
      { id: 'small', ...entry },
    ],
  })
  const answers = (paths: Record<string, object>) => (path: string) => paths[path]

  it.each([
    ['max_model_len of vLLM', { '/v1/models': models({ max_model_len: 4096 }) }, 4096],
    ["that of an adapter's model", { '/v1/models': models({ parent: 'other' }) }, 1],
    [
      'one slot of llama.cpp, whatever the model is called',
      { '/v1/models': { data: [{ id: 'x', meta: { n_ctx: 512 } }] } },
      512,
    ],
    [
      'one slot of an older llama.cpp',
      {
        '/v1/models': models({ meta: { n_ctx_train: 32_768 } }),
        '/props': { default_generation_settings: { n_ctx: 2048 } },
      },
      2048,
    ],
    [
      'what the model was made for, where llama.cpp hides its props',
      { '/v1/models': models({ meta: { n_ctx_train: 32_768 } }) },
      32_768,
    ],
    ['nothing of Ollama', { '/v1/models': models({ owned_by: 'library' }) }, undefined],
    ['nothing of a server without models', {}, undefined],
  ])('is %s', async (_name, paths, tokens) => {
    const { pool } = await open([() => 'call'], answers(paths))
    expect(await pool.contextTokens('small', never)).toBe(tokens)
  })
})
