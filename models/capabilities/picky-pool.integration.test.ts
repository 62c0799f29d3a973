import { afterEach, describe, expect, it } from 'vitest'
import type { ModelRequest } from '#domain/turn.ts'
import { type Clock, systemClock } from '#platform/clock.ts'
import { quickClock } from '#testing/quick-clock.ts'
import { until } from '#testing/until.ts'
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

type Get = (path: string) => object | 'hang' | 'broken' | undefined

type Opening = { models?: string[][]; clock?: Clock }

async function open(
  plays: ((body: PlayedBody) => PlayedAnswer)[],
  get?: Get | Get[],
  { models, clock = systemClock }: Opening = {},
) {
  const warnings: unknown[] = []
  for (const [at, play] of plays.entries()) servers.push(await playServer(play, Array.isArray(get) ? get[at] : get))
  const warn = (message: string, fields?: object) => void warnings.push({ message, ...fields })
  const log = { warn, debug: () => undefined }
  const endpoints = servers.map(({ url }, at) => ({ url, models: models?.[at] }))
  opened = openModelPool({ endpoints, requestTimeoutMs: 10_000, retryBudgetMs: 1000, maxInFlight: 8, log, clock })
  return { pool: opened, warnings }
}

const turns = (server: PlayedServer | undefined) => server?.bodies.filter(({ user }) => user !== probeUser) ?? []
const plainProbes = (server: PlayedServer | undefined) =>
  server?.bodies.filter(
    ({ user, messages, stream, ...keys }) =>
      user === probeUser &&
      !stream &&
      messages.length === 1 &&
      keys.tools === undefined &&
      keys.response_format === undefined &&
      keys.structured_outputs === undefined,
  ).length
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

  it('sends tools without strict and bounds from then on where it cannot hold a model to their schemas', async () => {
    const isPattern = (body: PlayedBody) => JSON.stringify(body.tools ?? []).includes('"pattern"')
    const refused = (body: PlayedBody) => isPattern(body) && body.tools?.some((tool) => tool.function.strict === true)
    const { pool } = await open([(body) => (refused(body) ? { status: 400 } : 'call')])
    const parameters = { type: 'object', properties: { id: { type: 'string', pattern: '^a' } } }
    const tools = [{ name: 'submit_result', description: 'Submit.', parameters }]
    const asked = { ...request, tools, toolChoice: 'required' as const }
    const replies = [await pool.complete(asked, never), await pool.complete(asked, never)]
    const told = ['lengths: some texts are not bounded', 'strict: not sent']
    expect(replies.map(({ workarounds }) => workarounds)).toEqual([told, told])
    const strict = turns(servers[0]).map((body) => body.tools?.[0]?.function.strict)
    expect(strict).toEqual([true, undefined, undefined])
  })

  it('holds calls to a schema from then on where one ran on until its limit', async () => {
    const endless = {
      content: '<tool_call>{"name": "submit_result", "arguments": {"a": 1\n\t\n\t\n',
      finishReason: 'length',
    }
    const play = ({ user, model, tool_choice: choice }: PlayedBody): PlayedAnswer =>
      user !== probeUser && model === 'small' && typeof choice === 'object' ? endless : 'call'
    const { pool } = await open([play])
    const ask = (asking: Partial<ModelRequest>) => pool.complete({ ...request, ...asking }, never)
    await ask({ toolChoice: 'auto' })
    expect((await ask({})).toolCalls).toEqual([])
    expect((await ask({})).workarounds).toEqual(['tool_choice submit_result: text held to the schema of a call'])
    expect((await ask({ model: 'other' })).workarounds).toEqual([])
    const held = turns(servers[0]).map(({ tool_choice: choice }) => choice === 'none')
    expect(held).toEqual([false, false, true, false])
  })

  it.each(['Well', '[1] It is {"name": "a"}', '<think>Long.</think><tool_call>{"name": "submit_result"'])(
    'does not count a cut reply as a call that ran on: %s',
    async (content) => {
      const { pool } = await open([({ user }) => (user === probeUser ? 'call' : { content, finishReason: 'length' })])
      await pool.complete(request, never)
      await pool.complete(request, never)
      expect(turns(servers[0]).map(({ tool_choice: choice }) => typeof choice)).toEqual(['object', 'object'])
    },
  )

  it('knows each server by itself', async () => {
    const { pool } = await open([withoutNames, () => 'call'])
    const keys = Array.from({ length: 16 }, (_, at) => `bundle ${at}`)
    for (const prefixKey of keys) await pool.complete({ ...request, prefixKey }, never)
    const choices = servers.map((server) => new Set(turns(server).map(({ tool_choice: choice }) => typeof choice)))
    expect(choices).toEqual([new Set(['string']), new Set(['object'])])
  })

  it('sends a plain message without a probe, and probes before the first request when asked to', async () => {
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

describe('a pool before a server that comes back and takes less', () => {
  it('asks anew what it takes when it refuses a request, once a minute, and goes on in another way', async () => {
    let play = (_: PlayedBody): PlayedAnswer => 'call'
    const { pool } = await open([(body) => play(body)])
    await pool.complete(request, never)
    play = withoutNames
    await expect(pool.complete(request, never)).rejects.toMatchObject({ code: 'AGENT_002' })
    const reply = await until(() => pool.complete(request, never).catch(() => undefined))
    expect(reply.workarounds).toEqual(['tool_choice submit_result: required, with that tool alone'])
    await until(() => plainProbes(servers[0]), { holds: (count) => count === 2 })
    play = () => ({ status: 422 })
    await expect(pool.complete(request, never)).rejects.toMatchObject({ code: 'AGENT_002' })
    await expect(pool.complete(request, never)).rejects.toMatchObject({ code: 'AGENT_002' })
    expect(plainProbes(servers[0])).toBe(2)
  })

  it('asks nothing anew for a request that is too long', async () => {
    const words = "This model's maximum context length is 4096 tokens"
    const { pool } = await open([({ user }) => (user === probeUser ? 'call' : { status: 400, words })])
    await expect(pool.complete(request, never)).rejects.toMatchObject({ code: 'AGENT_007' })
    await expect(pool.complete(request, never)).rejects.toMatchObject({ code: 'AGENT_007' })
    expect(plainProbes(servers[0])).toBe(1)
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

  it('is that of the servers which offer the model', async () => {
    const entry = (id: string, tokens: number) => () => ({ data: [{ id, max_model_len: tokens }] })
    const play = () => 'call' as const
    const { pool } = await open([play, play], [entry('big', 32_768), entry('small', 2048)], {
      models: [['big'], ['small']],
    })
    expect([await pool.contextTokens('big', never), await pool.contextTokens('small', never)]).toEqual([32_768, 2048])
  })

  it('is not that of another model', async () => {
    const { pool } = await open([() => 'call'], () => ({ data: [{ id: 'other', max_model_len: 2048 }] }))
    expect(await pool.contextTokens('small', never)).toBeUndefined()
  })

  it('is not waited for at a server that hangs', async () => {
    const play = () => 'call' as const
    const { pool } = await open([play, play], [() => 'hang', () => models({ max_model_len: 4096 })])
    expect(await pool.contextTokens('small', never)).toBe(4096)
  })

  it('is asked again within seconds of a server that was broken', async () => {
    let page: object | 'broken' = 'broken'
    const { pool } = await open([() => 'call'], () => page, { clock: quickClock(10) })
    expect(await pool.contextTokens('small', never)).toBeUndefined()
    page = models({ max_model_len: 4096 })
    await until(() => pool.contextTokens('small', never), { holds: (tokens) => tokens === 4096 })
  })
})
